"""Build of the compiled part; the metadata stands in pyproject.toml.

Each kernel module is compiled from one generated C file for the x86-64 levels v2, v3 (AVX2 and FMA)
and v4 (AVX-512). The results lie in ``dist_ms/_ext/v2|v3|v4`` and ``dist_ms/_ext/__init__.py`` takes
the best one that the CPU has. A wheel has all three, so it runs on every x86-64 machine, whichever one
built it; ``pip install -e`` compiles this machine's alone, as compiling takes most of the time.
``DIST_MS_LEVELS="v2 v3"`` names others.
"""

import copy
import importlib.util
import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy
from setuptools import Extension, find_packages, setup
from setuptools.command.build_ext import build_ext

# NumPy's declarations differ from Python to Python, as does what is translated with them.
CYTHON_BUILD_DIR = f"build/cython-{sys.implementation.cache_tag}"
ISA_FLAGS = {
    "v2": ["-march=x86-64-v2"],
    "v3": ["-march=x86-64-v3"],
    "v4": ["-march=x86-64-v4", "-mprefer-vector-width=512"],
}
# None of the flags changes a value: sqrt need not set errno, no floating-point trap is caught, and a loop that zeroes
# a few sums stays one in registers instead of becoming a memset, which a short row's sum waits for.
C_FLAGS = ["-O3", "-g0", "-fopenmp", "-fno-math-errno", "-fno-trapping-math", "-fno-tree-loop-distribute-patterns"]
# BatchNorm says itself where a multiplication and an addition are joined: which of them a compiler joins differs from
# loop to loop, and fused kernels must give the bits of the kernels they stand for. In sequences they stay apart, as the
# numbers are to be MindSpore's, in filling as they are to be NumPy's, and in grid_sampling and pixels as a last bit may
# choose another pixel.
MODULE_FLAGS = {
    module: ["-ffp-contract=off"] for module in ("batch_norm", "filling", "grid_sampling", "pixels", "sequences")
}
C_MACROS = [("NPY_NO_DEPRECATED_API", "NPY_1_7_API_VERSION")]
# Modules built once, for the lowest level: the question which CPU this is (for any x86-64), the allocator, the gate of
# operations and other code without long loops, and what asks for the CPU itself at run time, oneDNN's door and the
# products on AMX.
SINGLE_MODULES = (
    "amx",
    "cell",
    "checksums",
    "cpu",
    "delimited",
    "dnnl",
    "draws",
    "heartbeat",
    "jpeg",
    "layout",
    "memory",
    "moving_statistics",
    "narrow_integers",
    "quiet",
    "remember",
    "row_streams",
    "small",
    "tape",
    "time_limit",
)
# What Cython adds to every module, once: arguments, functions, classes, memoryviews. For any x86-64, as `cpu` needs it.
SHARED = "dist_ms._ext.cython_shared"


def own_level():
    """Return the highest level of x86-64 that this machine's CPU has."""
    info = Path("/proc/cpuinfo").read_text()
    flags = set(re.search(r"^flags\s*:(.*)$", info, re.MULTILINE).group(1).split())
    if flags >= {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}:
        return "v4"
    return "v3" if flags >= {"avx2", "fma", "bmi1", "bmi2"} else "v2"


def chosen_levels(whole):
    """Return the levels to compile for: those of DIST_MS_LEVELS, else all, or this machine's where a part is enough."""
    named = os.environ.get("DIST_MS_LEVELS", "").split()
    if wrong := [level for level in named if level not in ISA_FLAGS]:
        raise SystemExit(f"DIST_MS_LEVELS must name levels of {', '.join(ISA_FLAGS)}, but got {' '.join(wrong)}.")
    return named or (list(ISA_FLAGS) if whole else [own_level()])


def load_onednn_library():
    """Return the module `_ext/onednn_library.py`, which must not be imported as dist_ms yet."""
    spec = importlib.util.spec_from_file_location("onednn_library", "_ext/onednn_library.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def onednn_arguments():
    """Return the Extension arguments that find oneDNN's headers and link its library.

    No rpath: the library lies in a temporary folder while pip builds. At run time the one that
    `_ext/onednn_library.py` has loaded answers, as it has the same soname.
    """
    onednn = load_onednn_library()
    header = onednn.find_file("dnnl.h")
    library = onednn.find_file(onednn.SONAME)
    if header is None or library is None:
        raise SystemExit(
            "oneDNN's headers and library are needed to build dist_ms: run 'pip install "
            "onednn-devel-cpu-gomp==2023.2.0', or set DNNLROOT to a oneDNN 3 installation."
        )
    return {
        "include_dirs": [numpy.get_include(), *families(), str(header.parent)],
        "extra_link_args": ["-fopenmp", f"-L{library.parent}", f"-l:{onednn.SONAME}"],
    }


def families():
    """Return the folders of `_ext` that hold sources; modules and declarations have flat names all the same."""
    return sorted({str(path.parent) for pattern in ("*.pyx", "*.pxd", "*.h") for path in Path("_ext").rglob(pattern)})


def extensions():
    """Return an Extension per module of `_ext`, and per CPU level for the kernels."""
    found = [Extension(SHARED, ["_ext/cython_shared.c"], extra_compile_args=C_FLAGS, define_macros=C_MACROS)]
    for source in sorted(Path("_ext").rglob("*.pyx"), key=lambda path: path.stem):
        common = {
            "include_dirs": [numpy.get_include(), *families()],
            "define_macros": C_MACROS,
            "extra_link_args": ["-fopenmp", "-lm"],
            "depends": sorted(str(path) for pattern in ("*.px[di]", "*.h") for path in Path("_ext").rglob(pattern)),
        }
        if source.stem in SINGLE_MODULES:
            if source.stem == "dnnl":
                common |= onednn_arguments()
            name = f"dist_ms._ext.{source.stem}"
            flags = C_FLAGS if source.stem == "cpu" else [*C_FLAGS, *ISA_FLAGS["v2"]]
            found.append(Extension(name, [str(source)], extra_compile_args=flags, **common))
            continue
        for isa, flags in ISA_FLAGS.items():
            common["define_macros"] = [*C_MACROS, ("DIST_MS_ISA", f'"{isa}"')]
            name = f"dist_ms._ext.{isa}.{source.stem}"
            compile_args = [*C_FLAGS, *flags, *MODULE_FLAGS.get(source.stem, [])]
            found.append(Extension(name, [str(source)], extra_compile_args=compile_args, **common))
    # No module of Python's: a library that is preloaded into mpirun.
    library = "dist_ms.launch.loopback_bind"
    found.append(Extension(library, ["launch/loopback_bind.c"], extra_compile_args=["-O2", "-g0"]))
    return found


class BuildKernels(build_ext):
    """build_ext that translates each .pyx once and compiles its variants side by side."""

    def finalize_options(self):
        super().finalize_options()
        if self.parallel is None:
            self.parallel = len(os.sched_getaffinity(0))

    def build_extensions(self):
        from Cython.Build import cythonize

        in_place = self.inplace or self.editable_mode
        levels = chosen_levels(whole=not in_place)
        left_out = [level for level in ISA_FLAGS if level not in levels]
        self.extensions = [ext for ext in self.extensions if ext.name.split(".")[-2] not in left_out]
        if in_place:
            self.remove_others()
        sources = sorted({source for ext in self.extensions for source in ext.sources if source.endswith(".pyx")})
        sources.append("_ext/cython_shared.c")
        modules = cythonize(
            [Extension(f"dist_ms._ext.{Path(source).stem}", [source]) for source in sources],
            shared_utility_qualified_name=SHARED,
            build_dir=CYTHON_BUILD_DIR,
            include_path=families(),
            nthreads=self.parallel,
            language_level=3,
        )
        generated = dict(zip(sources, modules, strict=True))
        for ext in self.extensions:
            if ext.sources[0] not in generated:
                continue
            module = generated[ext.sources[0]]
            ext.sources, ext.language = module.sources, module.language
        super().build_extensions()
        if not in_place:
            self.bring_openmp()

    def remove_others(self):
        """Remove what an earlier build has left in `_ext`: it would be of other sources, and a level goes first."""
        built = {ext.name.removeprefix("dist_ms._ext.").replace(".", "/") for ext in self.extensions}
        for found in Path("_ext").rglob("*.so"):
            name = str(found.relative_to("_ext")).split(".")[0]
            if name not in built:
                found.unlink()
        for level in ISA_FLAGS:
            if Path("_ext", level).is_dir() and not list(Path("_ext", level).glob("*.so")):
                shutil.rmtree(Path("_ext", level))

    def bring_openmp(self):
        """Lay GCC's OpenMP library beside the kernels, for machines that have no compiler."""
        command = [self.compiler.compiler_so[0], "-print-file-name=libgomp.so.1"]
        found = Path(subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip())
        target = Path(self.build_lib, "dist_ms", "_ext", "libgomp.so.1")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(found.resolve(), target)

    def build_extension(self, ext):
        # Variants share a C file, so each needs an object folder of its own.
        worker = copy.copy(self)
        worker.build_temp = os.path.join(self.build_temp, ext.name)
        super(BuildKernels, worker).build_extension(ext)

    def copy_extensions_to_source(self):
        build_py = self.get_finalized_command("build_py")
        for ext in self.extensions:
            package = self.get_ext_fullname(ext.name).rpartition(".")[0]
            os.makedirs(build_py.get_package_dir(package), exist_ok=True)
        super().copy_extensions_to_source()


def packages(name, folder):
    """Return the package `name` in `folder` and all packages below it."""
    return [name, *(f"{name}.{below}" for below in find_packages(folder))]


if __name__ == "__main__":
    if platform.system() != "Linux" or platform.machine() != "x86_64":
        found = f"{platform.system()} on {platform.machine()}"
        raise SystemExit(f"dist_ms needs Linux on x86_64, but this is {found}.")
    setup(
        packages=[
            *packages("dist_ms", "dist_ms"),
            *packages("dist_ms._ext", "_ext"),
            *packages("dist_ms.launch", "launch"),
        ],
        package_dir={"dist_ms._ext": "_ext", "dist_ms.launch": "launch"},
        ext_modules=extensions(),
        cmdclass={"build_ext": BuildKernels},
    )
