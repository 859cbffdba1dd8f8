"""Calls of transforms of audio by name: family, options and input."""

import numpy as np

r = np.random.default_rng(3)


def T(*s):
    return r.random(s) * 2 - 1


def inputs(n=200):
    g = np.random.default_rng(5)

    def f(*s):
        return g.random(s) * 1.8 - 0.9

    return {
        "t32": f(n).astype("f4"),
        "ct64": f(2, n),
        "bct32": f(2, 3, n).astype("f4"),
        "i16": (f(2, n) * 8).astype("i2"),
        "f16": f(n).astype("f2"),
        "u8": np.arange(n, dtype="u1"),
        "bct64": f(2, 2, n),
        "one": f(1).astype("f4"),
        "i64": (f(n) * 5).astype("i8"),
        "empty": np.zeros((0,), "f4"),
        "c0": np.zeros((2, 0), "f4"),
        "bool": np.array([True, False, True]),
        "str": np.array(["a", "b"]),
        "scalar": np.array(0.5, "f4"),
    }


def cases(A):
    INPUTS = inputs()

    def over(name, ops, ins=INPUTS):
        for tag, mk in ops.items():
            for ik, x in ins.items():
                yield f"{name}:{tag}:{ik}", mk, (x,)

    yield from over(
        "Allpass", {"a": lambda: A.AllpassBiquad(44100, 200.0), "neg": lambda: A.AllpassBiquad(-16000, 200.0, 1)}
    )
    yield from over(
        "Band", {"a": lambda: A.BandBiquad(44100, 200.0), "n": lambda: A.BandBiquad(8000, 200.0, 0.3, True)}
    )
    yield from over(
        "Bandpass", {"a": lambda: A.BandpassBiquad(44100, 200.0), "n": lambda: A.BandpassBiquad(8000, 200.0, 0.3, True)}
    )
    yield from over("Bandreject", {"a": lambda: A.BandrejectBiquad(44100, 200.0)})
    yield from over("Bass", {"a": lambda: A.BassBiquad(44100, 20.0), "n": lambda: A.BassBiquad(8000, -7, 300, 0.3)})
    yield from over(
        "Treble", {"a": lambda: A.TrebleBiquad(44100, 20.0), "n": lambda: A.TrebleBiquad(8000, -7, 300, 0.3)}
    )
    yield from over("Equalizer", {"a": lambda: A.EqualizerBiquad(44100, 1500, 5.5, 0.7)})
    yield from over("Highpass", {"a": lambda: A.HighpassBiquad(44100, 1500, 0.7)})
    yield from over("Lowpass", {"a": lambda: A.LowpassBiquad(44100, 4000, 0.7)})
    yield from over("Deemph", {"a": lambda: A.DeemphBiquad(44100), "b": lambda: A.DeemphBiquad(48000)})
    yield from over("Riaa", {str(k): (lambda k=k: A.RiaaBiquad(k)) for k in (44100, 48000, 88200, 96000)})
    yield from over(
        "Biquad",
        {"a": lambda: A.Biquad(0.01, 0.02, 0.13, 1, 0.12, 0.3), "b": lambda: A.Biquad(1, 0.02, 0.13, 0.7, 0.12, 0.3)},
    )
    yield from over(
        "LFilter",
        {
            "a": lambda: A.LFilter((0.1, 0.2, 0.3), [0.1, 0.2, 0.3]),
            "b": lambda: A.LFilter([1.5, 0.2, 0.3, 0.1], [1.1, 0.2, 0.3, -0.4], False),
            "c": lambda: A.LFilter([1.0], [2.0]),
            "d": lambda: A.LFilter([1.0, 0.1], [2.0, 0.5]),
            "e": lambda: A.LFilter([2.0, 0.1], [3.0, 0.5], True),
        },
    )
    yield from over(
        "Filtfilt",
        {
            "a": lambda: A.Filtfilt((1.0, 0.2, 0.3), [0.1, 0.2, 0.3]),
            "b": lambda: A.Filtfilt([1.5, 0.2, 0.3, 0.1], [1.1, 0.2, 0.3, -0.4], False),
        },
    )
    yield from over(
        "DCShift",
        {
            "a": lambda: A.DCShift(0.5, 0.02),
            "b": lambda: A.DCShift(-0.4),
            "c": lambda: A.DCShift(-0.4, 0.05),
            "d": lambda: A.DCShift(1.5),
            "e": lambda: A.DCShift(0.5, 0),
        },
    )
    yield from over("Contrast", {"a": lambda: A.Contrast(), "b": lambda: A.Contrast(10)})
    yield from over("Gain", {"a": lambda: A.Gain(), "b": lambda: A.Gain(-3.5)})
    yield from over(
        "Vol",
        {"a": lambda: A.Vol(0.5), "b": lambda: A.Vol(3, A.GainType.POWER), "c": lambda: A.Vol(2.5, A.GainType.DB)},
    )
    yield from over("Overdrive", {"a": lambda: A.Overdrive(), "b": lambda: A.Overdrive(0, 90)})
    yield from over(
        "Fade",
        {s.name: (lambda s=s: A.Fade(20, 33, s)) for s in A.FadeShape}
        | {"none": lambda: A.Fade(), "one": lambda: A.Fade(1, 1), "long": lambda: A.Fade(500, 10)},
    )
    yield from over("MuLawEncoding", {"a": lambda: A.MuLawEncoding(), "b": lambda: A.MuLawEncoding(64)})
    yield from over("MuLawDecoding", {"a": lambda: A.MuLawDecoding(), "b": lambda: A.MuLawDecoding(64)})
    yield from over("Phaser", {"a": lambda: A.Phaser(44100), "b": lambda: A.Phaser(8000, 0.9, 2, 2.0, 0.6, 1.5, False)})
    yield from over(
        "Flanger",
        {
            "a": lambda: A.Flanger(44100),
            "b": lambda: A.Flanger(8000, 1.0, 3.0, 20, 50, 2.0, 10, A.Modulation.TRIANGULAR, A.Interpolation.QUADRATIC),
            "c": lambda: A.Flanger(
                8000, 0.0, 10.0, -20, 50, 2.0, 10, A.Modulation.SINUSOIDAL, A.Interpolation.QUADRATIC
            ),
        },
    )
    yield from over("Dither", {"a": lambda: A.Dither(), "b": lambda: A.Dither(A.DensityFunction.TPDF, True)})
    g = np.random.default_rng(9)
    CI = {
        "c2": g.random((6, 2)).astype("f4") - 0.5,
        "cc2": g.random((2, 5, 7, 2)) - 0.5,
        "i": g.integers(-4, 4, (3, 2)).astype("i4"),
        "no2": np.ones((3, 4), "f4"),
        "one": np.array([1.0, 2.0], "f4"),
        "f16": g.random((6, 2)).astype("f2"),
    }
    yield from over(
        "ComplexNorm", {"a": lambda: A.ComplexNorm(), "b": lambda: A.ComplexNorm(2), "z": lambda: A.ComplexNorm(0)}, CI
    )
    yield from over("Angle", {"a": lambda: A.Angle()}, CI)
    yield from over("Magphase", {"a": lambda: A.Magphase(), "b": lambda: A.Magphase(2.0)}, CI)
    yield from over(
        "AmplitudeToDB",
        {"a": lambda: A.AmplitudeToDB(), "b": lambda: A.AmplitudeToDB(A.ScaleType.MAGNITUDE, 2.0, 1e-3, 3.0)},
    )
    PI = {
        "ft": g.random((8, 9)).astype("f4"),
        "cft": g.random((3, 8, 9)),
        "bcft": g.random((2, 3, 8, 9)).astype("f4") + 0.1,
        "bbcft": g.random((2, 2, 3, 8, 9)).astype("f4") + 0.1,
        "i": g.integers(0, 9, (4, 12)),
        "t": g.random(12).astype("f4"),
        "f16": g.random((8, 9)).astype("f2"),
    }
    yield from over(
        "AmplitudeToDB2",
        {"a": lambda: A.AmplitudeToDB(), "b": lambda: A.AmplitudeToDB(A.ScaleType.MAGNITUDE, 2.0, 1e-3, 3.0)},
        PI,
    )
    yield from over("DBToAmplitude", {"a": lambda: A.DBToAmplitude(1.0, 1.0), "b": lambda: A.DBToAmplitude(2, 0.5)}, PI)
    yield from over("DBToAmplitude1", {"a": lambda: A.DBToAmplitude(1.0, 1.0)})
    yield from over(
        "ComputeDeltas",
        {
            "a": lambda: A.ComputeDeltas(),
            "b": lambda: A.ComputeDeltas(7, A.BorderType.CONSTANT),
            "c": lambda: A.ComputeDeltas(4, A.BorderType.REFLECT),
            "d": lambda: A.ComputeDeltas(5, A.BorderType.SYMMETRIC),
        },
        PI,
    )
    yield from over(
        "SlidingWindowCmn",
        {
            "a": lambda: A.SlidingWindowCmn(),
            "b": lambda: A.SlidingWindowCmn(4, 2, False, True),
            "c": lambda: A.SlidingWindowCmn(5, 2, True, True),
            "d": lambda: A.SlidingWindowCmn(3, 5, False, False),
            "e": lambda: A.SlidingWindowCmn(500, 200, True, True),
        },
        PI,
    )
    for ns in (A.NormMode.NONE, A.NormMode.ORTHO):
        yield f"create_dct:{ns.name}", (lambda ns=ns: A.create_dct(7, 12, ns)), None
    yield "linear_fbanks", (lambda: A.linear_fbanks(65, 100.0, 3000.0, 10, 8000)), None
    for nt in A.NormType:
        for mt in A.MelType:
            yield (
                f"melscale_fbanks:{nt.name}{mt.name}",
                (lambda nt=nt, mt=mt: A.melscale_fbanks(65, 0.0, 4000.0, 20, 8000, nt, mt)),
                None,
            )
    MI = {
        "ft": g.random((33, 9)).astype("f4"),
        "cft": g.random((3, 33, 9)),
        "bcft": g.random((2, 3, 33, 9)).astype("f4"),
        "f16": g.random((33, 9)).astype("f2"),
    }
    yield from over(
        "MelScale",
        {
            "a": lambda: A.MelScale(12, 8000, n_stft=33),
            "b": lambda: A.MelScale(12, 8000, 100.0, 3000, 33, A.NormType.SLANEY, A.MelType.SLANEY),
        },
        MI,
    )
    WI = {k: v for k, v in inputs(400).items() if v.size > 50 or k == "str"}
    spec = {}
    for w in A.WindowType:
        spec[w.name] = lambda w=w: A.Spectrogram(64, window=w)
        spec[w.name + "odd"] = lambda w=w: A.Spectrogram(63, 31, 10, window=w, power=1)
    for b in A.BorderType:
        spec["pad" + b.name] = lambda b=b: A.Spectrogram(64, 40, 16, 5, pad_mode=b)
    spec |= {
        "p0": lambda: A.Spectrogram(64, power=0),
        "p0n": lambda: A.Spectrogram(64, 40, power=0, normalized=True),
        "p3": lambda: A.Spectrogram(64, 40, power=3.0, normalized=True),
        "nc": lambda: A.Spectrogram(64, center=False),
        "two": lambda: A.Spectrogram(64, power=1.0, onesided=False),
        "two0": lambda: A.Spectrogram(63, power=0.0, onesided=False),
        "big": lambda: A.Spectrogram(1000),
    }
    yield from over("Spectrogram", spec, WI)
    yield from over(
        "SpectralCentroid",
        {
            "a": lambda: A.SpectralCentroid(8000, 64),
            "b": lambda: A.SpectralCentroid(44100, 63, 40, 16, 5, A.WindowType.HAMMING),
        },
        WI,
    )
    yield from over(
        "MelSpectrogram",
        {
            "a": lambda: A.MelSpectrogram(8000, 64, n_mels=10),
            "b": lambda: A.MelSpectrogram(
                8000,
                64,
                40,
                16,
                100.0,
                3000.0,
                3,
                12,
                A.WindowType.HAMMING,
                1.0,
                True,
                True,
                A.BorderType.EDGE,
                True,
                A.NormType.SLANEY,
                A.MelType.SLANEY,
            ),
        },
        WI,
    )
    yield from over(
        "MFCC",
        {
            "a": lambda: A.MFCC(8000, 10, melkwargs={"n_fft": 64, "n_mels": 20}),
            "log": lambda: A.MFCC(8000, 10, 2, A.NormMode.NONE, True, melkwargs={"n_fft": 64, "n_mels": 20}),
            "full": lambda: A.MFCC(),
            "odd": lambda: A.MFCC(
                8000,
                10,
                melkwargs={"n_fft": 64, "n_mels": 20, "hop_length": 13, "win_length": 50, "pad": 4, "power": 1.0},
            ),
        },
        WI,
    )
    yield from over(
        "LFCC",
        {
            "a": lambda: A.LFCC(8000, 20, 10, speckwargs={"n_fft": 64}),
            "log": lambda: A.LFCC(
                8000, 20, 10, 100.0, 3000.0, 2, A.NormMode.NONE, True, {"n_fft": 64, "hop_length": 13}
            ),
            "full": lambda: A.LFCC(),
        },
        WI,
    )
    SI = {
        "c": g.random((33, 12, 2)).astype("f4") - 0.5,
        "cc": g.random((2, 33, 12, 2)) - 0.5,
        "bcc": g.random((2, 2, 33, 12, 2)).astype("f4") - 0.5,
        "bad": g.random((33, 12)),
        "f16": g.random((33, 12, 2)).astype("f2"),
        "wrong": g.random((32, 12, 2)).astype("f4"),
    }
    yield from over(
        "InverseSpectrogram",
        {
            "a": lambda: A.InverseSpectrogram(None, 64),
            "len": lambda: A.InverseSpectrogram(300, 64),
            "l2": lambda: A.InverseSpectrogram(1000, 64),
            "n": lambda: A.InverseSpectrogram(None, 64, 40, 16, 3, A.WindowType.HAMMING, True),
            "nc": lambda: A.InverseSpectrogram(None, 64, 64, 16, 0, A.WindowType.HAMMING, False, False),
            "two": lambda: A.InverseSpectrogram(None, 33, onesided=False),
            "odd": lambda: A.InverseSpectrogram(None, 65),
        },
        SI,
    )
    GI = {
        "ft": g.random((33, 12)).astype("f4"),
        "cft": g.random((2, 33, 12)),
        "bcft": g.random((2, 2, 33, 12)).astype("f4"),
        "f16": g.random((33, 12)).astype("f2"),
        "t": g.random(33),
        "wrong": g.random((32, 12)).astype("f4"),
    }
    yield from over(
        "GriffinLim",
        {
            "a": lambda: A.GriffinLim(64, 4, rand_init=False),
            "b": lambda: A.GriffinLim(64, 4, 40, 16, A.WindowType.HAMMING, 1.0, 0.5, 100, False),
            "m0": lambda: A.GriffinLim(64, 3, momentum=0.0, rand_init=False),
        },
        GI,
    )
    yield from over(
        "GriffinLimRand",
        {"a": lambda: A.GriffinLim(64, 4), "m1": lambda: A.GriffinLim(64, 4, momentum=1.0, rand_init=False)},
        GI,
    )
    yield from over(
        "PhaseVocoder",
        {
            str(q) + k: (lambda q=q, k=k: A.PhaseVocoder(q, np.linspace(0, np.pi * 16, 33).astype(k)[:, None]))
            for q in (1.3, 0.7, 1, 2, 0.5)
            for k in ("f4", "f8")
        },
        SI,
    )
    yield from over(
        "TimeStretch",
        {
            "a": lambda: A.TimeStretch(16, 33, 1.3),
            "b": lambda: A.TimeStretch(None, 33, 0.8),
            "c": lambda: A.TimeStretch(16, 33),
        },
        SI,
    )
    yield from over(
        "PitchShift",
        {
            "a": lambda: A.PitchShift(8000, 4, n_fft=64),
            "b": lambda: A.PitchShift(8000, -3, 24, 64, 40, 10, A.WindowType.HAMMING),
            "z": lambda: A.PitchShift(8000, 0, n_fft=64),
        },
        WI,
    )
    RI = inputs(160)
    yield from over(
        "Resample",
        {
            "down": lambda: A.Resample(48000, 16000),
            "up": lambda: A.Resample(16000, 48000),
            "odd": lambda: A.Resample(44100, 16000),
            "k": lambda: A.Resample(16000, 24000, A.ResampleMethod.KAISER_WINDOW, 8, 0.9, 6.0),
            "kd": lambda: A.Resample(16000, 24000, A.ResampleMethod.KAISER_WINDOW),
            "same": lambda: A.Resample(16000, 16000),
            "f": lambda: A.Resample(100.5, 50.2),
        },
        RI,
    )
    yield from over(
        "MaskAlongAxis",
        {
            "a": lambda: A.MaskAlongAxis(1, 2, 9.0, 1),
            "b": lambda: A.MaskAlongAxis(0, 3, -1, 2),
            "c": lambda: A.MaskAlongAxis(7, 3, -1, 1),
            "d": lambda: A.MaskAlongAxis(20, 3, -1, 1),
        },
        PI,
    )
    yield from over(
        "MaskAlongAxisIID",
        {"a": lambda: A.MaskAlongAxisIID(0, 9.0, 1), "big": lambda: A.MaskAlongAxisIID(30, 9.0, 1)},
        PI,
    )
    yield from over(
        "FrequencyMasking",
        {
            "a": lambda: A.FrequencyMasking(False, 3, 2, 9.0),
            "z": lambda: A.FrequencyMasking(False, 0),
            "big": lambda: A.FrequencyMasking(False, 30),
            "iidz": lambda: A.FrequencyMasking(True, 0),
            "c": lambda: A.FrequencyMasking(False, 8, 0, 2.5),
            "d": lambda: A.FrequencyMasking(False, 3, 7, 9.0),
        },
        PI,
    )
    yield from over(
        "TimeMasking",
        {
            "a": lambda: A.TimeMasking(False, 3, 2, 9.0),
            "z": lambda: A.TimeMasking(False, 0),
            "big": lambda: A.TimeMasking(False, 30),
            "iidz": lambda: A.TimeMasking(True, 0),
            "c": lambda: A.TimeMasking(False, 9, 0, 2.5),
        },
        PI,
    )
    n = np.arange(3000)
    DI = {
        "s": np.sin(n * 2 * np.pi * 220 / 8000).astype("f4"),
        "cs": np.stack([np.sin(n * 2 * np.pi * 220 / 8000), np.sin(n * 2 * np.pi * 150 / 8000)])
        + g.normal(0, 0.05, (2, 3000)),
        "bcs": (np.sin(n * 2 * np.pi * 300 / 8000)[None, None] * np.ones((2, 2, 1))).astype("f4")
        + g.normal(0, 0.05, (2, 2, 3000)).astype("f4"),
        "i": (np.sin(n * 2 * np.pi * 220 / 8000) * 1000).astype("i2"),
        "f16": np.sin(n * 2 * np.pi * 220 / 8000).astype("f2"),
        "short": np.ones(20, "f4"),
        "zero": np.zeros(3000, "f4"),
    }
    yield from over(
        "DetectPitchFrequency",
        {
            "a": lambda: A.DetectPitchFrequency(8000),
            "b": lambda: A.DetectPitchFrequency(8000, 0.02, 5, 100, 2000),
            "c": lambda: A.DetectPitchFrequency(8000, 0.01, 4),
        },
        DI,
    )
    m = np.arange(16000)
    v = g.normal(0, 0.001, 16000)
    v[6000:11000] += np.sin(m[6000:11000] * 2 * np.pi * 300 / 8000) * 0.5
    VI = {
        "t": v.astype("f4"),
        "ct": np.stack([v, v * 0.5]),
        "bct": np.stack([v, v * 0.5])[None].repeat(2, 0).astype("f4"),
        "noise": g.normal(0, 0.01, 16000).astype("f4"),
        "short": np.ones(20, "f4"),
        "f16": v.astype("f2"),
        "i": (v * 1000).astype("i2"),
        "two": np.concatenate([v, v[::-1]]).astype("f4"),
        "zero": np.zeros(9000, "f4"),
    }
    yield from over(
        "Vad",
        {
            "a": lambda: A.Vad(8000),
            "b": lambda: A.Vad(8000, boot_time=0.1, trigger_level=3.0, pre_trigger_time=0.1),
            "c": lambda: A.Vad(8000, 5.0, 0.1, 0.5, 0.1, 0.05, 0.2, 0.2, 0.05, 1.0, 30, 0.05, 0.2, 60, 3000, 100, 1500),
            "d": lambda: A.Vad(16000),
        },
        VI,
    )
    IM = {
        "ft": g.random((8, 3)).astype("f4"),
        "cft": g.random((2, 8, 3)),
        "bcft": g.random((2, 2, 8, 3)).astype("f4"),
        "f16": g.random((8, 3)).astype("f2"),
    }
    yield from over(
        "InverseMelScale",
        {
            "a": lambda: A.InverseMelScale(20, 8, 8000),
            "b": lambda: A.InverseMelScale(20, 8, 8000, max_iter=3, sgdargs={"sgd_lr": 0.05, "sgd_momentum": 0.5}),
        },
        IM,
    )
