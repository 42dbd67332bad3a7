"""Bundles: options declared once in a frozen dataclass, which is one parameter of each command that has them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import is_dataclass
from functools import cache
from inspect import Parameter
from typing import Any

Body = Callable[..., None]


@cache
def options_of(bundle: type) -> tuple[Parameter, ...]:
    """The options that a bundle declares: its fields, in their order."""
    return tuple(inspect.signature(bundle, eval_str=True).parameters.values())


@cache
def parameters_of(body: Body) -> tuple[Parameter, ...]:
    """What the body of a command takes besides its run: single options, and bundles."""
    return tuple(p for p in inspect.signature(body, eval_str=True).parameters.values() if p.name != "run")


def is_bundle(parameter: Parameter) -> bool:
    """Whether the parameter stands for several options."""
    return isinstance(parameter.annotation, type) and is_dataclass(parameter.annotation)


def single_options(body: Body) -> list[Parameter]:
    """Every option of a command in its place, those of bundles among them."""
    return [one for p in parameters_of(body) for one in (options_of(p.annotation) if is_bundle(p) else (p,))]


def arguments_of(body: Body, given: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a body from its single options; a bundle that is given whole is taken as it is."""
    arguments = dict(given)
    for parameter in filter(is_bundle, parameters_of(body)):
        if not isinstance(arguments.get(parameter.name), parameter.annotation):
            names = [option.name for option in options_of(parameter.annotation) if option.name in arguments]
            arguments[parameter.name] = parameter.annotation(**{name: arguments.pop(name) for name in names})
    return arguments


def signed(call: Body, body: Body, parameters: Iterable[Parameter]) -> Body:
    """`call` as Typer is to read it: with these parameters, by keyword, and the name and help of `body`."""
    by_keyword = [parameter.replace(kind=Parameter.KEYWORD_ONLY) for parameter in parameters]
    call.__signature__ = inspect.Signature(by_keyword)  # type: ignore[attr-defined]
    call.__annotations__ = {parameter.name: parameter.annotation for parameter in by_keyword}
    call.__doc__, call.__name__ = body.__doc__, body.__name__
    return call
