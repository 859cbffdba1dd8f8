"""Sets of recordings in the layout of their files; the rows are MindSpore 2.10's."""

import wave

import numpy as np
import pytest

import dist_ms.dataset as ds

SAMPLES = np.array([12204, -32768, 32767, 0, -1], np.int16)
SCALED = SAMPLES.astype(np.float32) / np.float32(32767)


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)


def record(path, rate, width=2):
    path.parent.mkdir(parents=True, exist_ok=True)
    with wave.open(str(path), "wb") as file:
        file.setparams((1, width, rate, 0, "NONE", ""))
        file.writeframes(SAMPLES.tobytes())


def rows(data, rate, rate_type):
    """The columns after the sound and its rate."""
    found = list(data.create_tuple_iterator(num_epochs=1, output_numpy=True))
    for sound, given, *_ in found:
        assert given == rate and given.dtype == rate_type and given.shape == ()
        assert sound.dtype == np.float32
        np.testing.assert_array_equal(sound, SCALED[None])
    return [[column.tolist() for column in row[2:]] for row in found]


def test_yes_no(tmp_path):
    for name in ("1_0_1", "0_1_1"):
        record(tmp_path / f"{name}.wav", 8000)
    data = ds.YesNoDataset(str(tmp_path), shuffle=False)
    assert data.get_col_names() == ["waveform", "sample_rate", "label"]
    assert rows(data, 8000, np.int32) == [[[0, 1, 1]], [[1, 0, 1]]]
    assert rows(ds.YesNoDataset(str(tmp_path), num_shards=2, shard_id=1, shuffle=False), 8000, np.int32) == [
        [[1, 0, 1]]
    ]
    record(tmp_path / "other.wav", 8000)
    with pytest.raises(RuntimeError, match=r"other\.wav"):
        ds.YesNoDataset(str(tmp_path))
    with pytest.raises(RuntimeError, match="unpacked"):
        ds.YesNoDataset(str(tmp_path.parent))


def test_files_that_are_no_sound(tmp_path):
    path = tmp_path / "1.wav"
    data = ds.YesNoDataset
    record(path, 8000, width=1)
    with pytest.raises(RuntimeError, match="8 bits"):
        rows(data(str(tmp_path)), 8000, np.int32)
    record(path, 8000)
    path.write_bytes(path.read_bytes()[:-3])
    with pytest.raises(RuntimeError, match="cut off"):
        rows(data(str(tmp_path)), 8000, np.int32)
    path.write_text("no sound")
    with pytest.raises(RuntimeError, match=r"1\.wav"):
        rows(data(str(tmp_path)), 8000, np.int32)


def test_speech_commands(tmp_path):
    for name in ("dog/b_nohash_0", "dog/a_nohash_1", "cat/c_nohash_12", "_background_noise_/hum"):
        record(tmp_path / f"{name}.wav", 16000)
    write(tmp_path / "testing_list.txt", "dog/b_nohash_0.wav\n")
    write(tmp_path / "validation_list.txt", "cat/c_nohash_12.wav\n")

    def named(usage):
        return rows(ds.SpeechCommandsDataset(str(tmp_path), usage, shuffle=False), 16000, np.int32)

    cat, dog_a, dog_b = ["cat", "c", 12], ["dog", "a", 1], ["dog", "b", 0]
    assert named(None) == named("all") == [cat, dog_a, dog_b]
    assert named("train") == [dog_a] and named("test") == [dog_b] and named("valid") == [cat]
    with pytest.raises(ValueError, match="usage"):
        named("dev")
    record(tmp_path / "dog/zz.wav", 16000)
    with pytest.raises(RuntimeError, match="nohash"):
        named("all")


def test_cmu_arctic(tmp_path):
    folder = tmp_path / "cmu_us_slt_arctic"
    for name in ("arctic_a0001", "arctic_b0002"):
        record(folder / "wav" / f"{name}.wav", 16000)
    write(folder / "etc/txt.done.data", '( arctic_b0002 "Two, three." )\n( arctic_a0001 "One" )\n')
    data = ds.CMUArcticDataset(str(tmp_path), "slt", shuffle=False)
    assert rows(data, 16000, np.uint32) == [["Two, three.", "b0002"], ["One", "a0001"]]
    with pytest.raises(RuntimeError, match=r"txt\.done\.data"):
        ds.CMUArcticDataset(str(tmp_path))
    with pytest.raises(ValueError, match="name"):
        ds.CMUArcticDataset(str(tmp_path), "me")
    with pytest.raises(TypeError, match="name"):
        ds.CMUArcticDataset(str(tmp_path), 3)
    record(folder / "wav/arctic_b0002.wav", 8000)
    with pytest.raises(RuntimeError, match="16000"):
        rows(data, 16000, np.uint32)


def test_lj_speech(tmp_path):
    for name in ("LJ001-0001", "LJ001-0002"):
        record(tmp_path / "wavs" / f"{name}.wav", 22050)
    write(tmp_path / "metadata.csv", 'LJ001-0002|"In" 1|In one\nLJ001-0001|two|\n')
    assert rows(ds.LJSpeechDataset(str(tmp_path), shuffle=False), 22050, np.int32) == [
        ['"In" 1', "In one"],
        ["two", ""],
    ]
    write(tmp_path / "metadata.csv", "LJ001-0002|one\n")
    with pytest.raises(RuntimeError, match=r"metadata\.csv"):
        ds.LJSpeechDataset(str(tmp_path))
    write(tmp_path / "metadata.csv", "")
    with pytest.raises(RuntimeError, match="empty"):
        ds.LJSpeechDataset(str(tmp_path))


def test_libri_tts(tmp_path):
    for part, name in (("test-other", "7_8_1_0"), ("dev-clean", "116_9_2_0"), ("dev-clean", "116_9_1_0")):
        speaker, chapter = name.split("_")[:2]
        folder = tmp_path / part / speaker / chapter
        record(folder / f"{name}.wav", 24000)
        with open(folder / f"{speaker}_{chapter}.trans.tsv", "a") as file:
            print(name, f"{name}?", "spoken", sep="\t", file=file)
    dev = [[f"116_9_{n}_0?", "spoken", 116, 9, f"116_9_{n}_0"] for n in (2, 1)]
    assert rows(ds.LibriTTSDataset(str(tmp_path), "dev-clean", shuffle=False), 24000, np.uint32) == dev
    test = ["7_8_1_0?", "spoken", 7, 8, "7_8_1_0"]
    assert rows(ds.LibriTTSDataset(str(tmp_path), shuffle=False), 24000, np.uint32) == [*dev, test]
    with pytest.raises(RuntimeError, match="train-clean-100"):
        ds.LibriTTSDataset(str(tmp_path), "train-clean-100")
    with pytest.raises(ValueError, match="usage"):
        ds.LibriTTSDataset(str(tmp_path), "dev")


def test_gtzan(tmp_path):
    for name in (
        "rock/rock.00000",
        "blues/blues.00029",
        "blues/blues.00000",
        "blues/blues.00012",
        "blues/x",
        "folk/folk.00000",
    ):
        record(tmp_path / f"{name}.wav", 22050)

    def genres(usage):
        return [label for (label,) in rows(ds.GTZANDataset(str(tmp_path), usage, shuffle=False), 22050, np.uint32)]

    assert genres(None) == genres("all") == ["blues", "blues", "blues", "rock"]
    assert genres("train") == ["blues", "rock"]
    assert genres("valid") == genres("test") == ["blues"]
    with pytest.raises(ValueError, match="usage"):
        genres("dev")
    record(tmp_path / "rock/rock.00000.wav", 16000)
    with pytest.raises(RuntimeError, match="22050"):
        genres("train")
    with pytest.raises(RuntimeError, match="tracks"):
        ds.GTZANDataset(str(tmp_path / "folk"))


def talk(folder, name, texts, order="10", **other):
    """A talk of two seconds whose samples are their numbers, in the layout of NIST's SPHERE."""
    fields = {"sample_count": "-i 16000", "sample_n_bytes": "-i 2", "channel_count": "-i 1"}
    fields |= {"sample_byte_format": f"-s2 {order}", "sample_rate": "-i 8000", "sample_coding": "-s3 pcm"} | other
    head = "".join(f"{key} {value}\n" for key, value in fields.items())
    write(folder / "stm" / f"{name}.stm", texts)
    (folder / "sph").mkdir(exist_ok=True)
    samples = np.arange(16000).astype(">i2" if order == "10" else "<i2").tobytes()
    (folder / "sph" / f"{name}.sph").write_bytes(f"NIST_1A\n   1024\n{head}end_head\n".encode().ljust(1024) + samples)


@pytest.mark.parametrize("order", ["01", "10"])
def test_tedlium_gives_parts_of_talks(tmp_path, order):
    talk(tmp_path / "data", "a", "a 1 me 0.25 0.50006 <o,f0> two  words \na 1 inter 1.5 2 <NA> ignore\n", order)
    data = ds.TedliumDataset(str(tmp_path), "release3", extensions=".sph", shuffle=False)
    first, second = data.create_tuple_iterator(num_epochs=1, output_numpy=True)
    assert [str(x) for x in first[1:]] == ["8000", "two  words ", "a", "me", "<o,f0>"] and first[1].dtype == np.int32
    np.testing.assert_array_equal(first[0], np.arange(2000, 4000, dtype=np.float32)[None] / np.float32(32767))
    assert [str(x) for x in second[2:]] == ["ignore", "a", "inter", "<NA>"] and second[0].shape == (1, 4000)


def test_tedlium_orders_sentences_by_digits(tmp_path):
    for part in ("train", "dev"):
        for name in "ba":
            talk(tmp_path / part, name, "".join(f"{name} 1 me 0 0.1 <o> {part} {k}\n" for k in range(11)))

    def said(usage):
        data = ds.TedliumDataset(str(tmp_path), "release1", usage, shuffle=False)
        return [f"{row[3]} {row[2]}" for row in data.create_tuple_iterator(num_epochs=1, output_numpy=True)]

    digits = [0, 1, 10, *range(2, 10)]
    assert said("dev") == [f"{name} dev {k}" for k in digits for name in "ab"]
    talk(tmp_path / "test", "a", "a 1 me 0 0.1 <o> once")
    assert said(None)[:5] == ["a dev 0", "a once", "a train 0", "b dev 0", "b train 0"]


def test_tedlium_refuses_what_it_cannot_read(tmp_path):
    def first(release="release3", **options):
        return next(ds.TedliumDataset(str(tmp_path), release, **options).create_tuple_iterator(output_numpy=True))

    with pytest.raises(RuntimeError, match="stm"):
        first()
    talk(tmp_path / "data", "a", "a 1 me 1.5 2.5 <o> too long")
    with pytest.raises(RuntimeError, match="shorter"):
        first()
    talk(tmp_path / "data", "a", "a 1 me 0 1 <o> stereo", channel_count="-i 2")
    with pytest.raises(RuntimeError, match="one channel"):
        first()
    talk(tmp_path / "data", "a", "a 1 me 0")
    with pytest.raises(RuntimeError, match=r"a\.stm"):
        first()
    with pytest.raises(ValueError, match="release"):
        first("release4")
    with pytest.raises(ValueError, match="usage"):
        first(usage="train")
    with pytest.raises(ValueError, match="extensions"):
        first(extensions="sph")
    with pytest.raises(TypeError, match="release"):
        first(3)
