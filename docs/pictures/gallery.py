"""Make the pictures of docs/gallery.md: `python docs/pictures/gallery.py` runs the examples that draw, on 2 ranks."""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
EXAMPLES = HERE.parents[1] / "examples"
DRAWN = {"train_digits.py": "digits.png", "vae.py": "vae.png", "dcgan.py": "dcgan.png"}


def main() -> None:
    """Run, copy the picture, and print the line that says what was reached."""
    for example, picture in DRAWN.items():
        with tempfile.TemporaryDirectory() as folder:
            command = [Path(sys.executable).with_name("dist-ms"), "run", "-n", "2", EXAMPLES / example]
            done = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
            shutil.copyfile(Path(folder) / picture, HERE / picture)
        print(f"{example}: {next(line for line in done.stdout.splitlines() if 'rank(s)' in line)}")


if __name__ == "__main__":
    main()
