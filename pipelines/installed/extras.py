"""What only an extra brings, and the sentence for whoever lacks it."""

from __future__ import annotations

from importlib.util import find_spec

PLATFORM = {
    "pyspark": "Spark",
    "py4j": "Spark",
    "dagster": "Dagster",
    "dagster_webserver": "Dagster's UI",
    "deltalake": "Delta",
    "jupyterlab": "JupyterLab",
    "jupytext": "JupyterLab",
    "IPython": "IPython",
    "matplotlib": "matplotlib",
    "pandas": "pandas",
}
"""Modules of the extra, and what a person calls them."""
OBJECTS = {"obstore": "The client of object stores", "fsspec": "What DuckDB reads object stores through"}
"""Modules of the extra for a lake at s3://, and what a person calls them."""

COMPILER = ("numba", "llvmlite")
"""Modules that compile what runs as machine code, where no library of it is for this processor."""


def need(*modules: str) -> None:
    """Raise ModuleNotFoundError, as an import would, for the first of these that is not installed."""
    for module in modules:
        if find_spec(module) is None:
            raise ModuleNotFoundError(f"No module named {module!r}", name=module)


def missing_extra(error: BaseException) -> str | None:
    """What to install, in one sentence, where the error is that a module of an extra is not there; else None."""
    module = error.name or "" if isinstance(error, ModuleNotFoundError) else ""
    if module.partition(".")[0] in COMPILER:
        return "nothing here was compiled for this processor, and the compiler is not installed: pip install numba"
    for extra, modules in (("platform", PLATFORM), ("objects", OBJECTS)):
        if (named := modules.get(module.partition(".")[0])) is not None:
            return f"{named} is not installed; it comes with the extra `{extra}`: pip install 'rocketlens[{extra}]'"
    return None
