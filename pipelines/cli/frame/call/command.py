"""What turns a function into a command: shared options, one `Run`, errors as sentences, exit codes."""

from __future__ import annotations

import inspect
import traceback
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from copy import copy
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any, get_args, get_origin

import typer

from pipelines.cli.frame.asked.bundles import Body, arguments_of, options_of, signed, single_options
from pipelines.cli.frame.asked.options import LAKE, ROWS, SHARED, Answer, OutputOptions
from pipelines.cli.frame.asked.typer_classes import Command
from pipelines.cli.frame.call.addressed import stores_here
from pipelines.cli.frame.call.run import Run
from pipelines.cli.frame.call.start import allow_everything
from pipelines.cli.frame.errors import ExitCode, WrongUsage
from pipelines.cli.frame.visible import say
from pipelines.installed.addresses import is_address, why_refused

WRITTEN = {"to"}
"""Arguments that name what a command writes, besides --out; every other path is evidence."""


_of_module: defaultdict[str, list[Callable[[typer.Typer], None]]] = defaultdict(list)
"""What adds each command of a module to a program, by the module's name."""


def command(name: str, *, panel: str | None = None, answer: Answer = ROWS) -> Callable[[Body], Body]:
    """Declare `body(run, …)` as the command `name`; its docstring is the help text."""

    def declare(body: Body) -> Body:
        def add(app: typer.Typer) -> None:
            called = _with_shared_options(body, name, panel, answer)
            app.command(name, cls=Command, rich_help_panel=panel, no_args_is_help=False)(called)

        _of_module[body.__module__].append(add)
        return body

    return declare


def group(module: str, name: str, commands: typer.Typer, *, panel: str) -> None:
    """Declare commands below the name `name` as what a module has."""
    _of_module[module].append(lambda app: app.add_typer(commands, name=name, rich_help_panel=panel))


def add_commands(app: typer.Typer, module: ModuleType) -> None:
    """Give a program the commands that a module declares, in their order there."""
    for add in _of_module[module.__name__]:
        add(app)


def _with_shared_options(body: Body, name: str, panel: str | None, answer: Answer) -> Body:
    context = inspect.Parameter("ctx", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)

    def carried_out(run: Run, **given: Any) -> None:
        run.options.refuse(answer, name)
        try:
            body(run, **arguments_of(body, given))
        finally:
            run.hint_at_names(given.get("topic"), given.get("group"))

    def call(ctx: typer.Context, **given: Any) -> None:
        if panel == LAKE:
            allow_everything()
        options = OutputOptions(**{each: given.pop(each) for each in SHARED}).over(ctx.obj or OutputOptions())
        code = carry_out(Run(options), carried_out, given)
        if code != ExitCode.FINE:
            raise typer.Exit(code)

    shared = [_hidden(each) if each.name in answer.without else each for each in options_of(OutputOptions)]
    parameters = [context, *single_options(body), *shared]
    _let_flags_be_flags(parameters)
    return signed(call, body, parameters)


def _let_flags_be_flags(parameters: Iterable[inspect.Parameter]) -> None:
    """Keep the help from asking for a value of type bool where there is none to give."""
    for parameter in parameters:
        if get_origin(parameter.annotation) is Annotated and get_args(parameter.annotation)[0] is bool:
            for option in get_args(parameter.annotation)[1:]:
                option.metavar = ""


def _hidden(parameter: inspect.Parameter) -> inspect.Parameter:
    """The option without its line in the help; it is read, to be refused with a reason."""
    kind, shown = get_args(parameter.annotation)
    option = copy(shown)
    option.hidden = True
    return parameter.replace(annotation=Annotated[kind, option])


def carry_out(run: Run, body: Body, given: dict[str, Any]) -> int:
    """Call the body; whatever goes wrong becomes one sentence on stderr and an exit code."""
    try:
        refuse_no_text(given)
        with run, stores_here(given) as given:
            refuse_addresses({**given, "out": run.options.out})
            for path in _paths({name: value for name, value in given.items() if name not in WRITTEN}):
                run.reads(path)
            body(run, **given)
            run.finish()
    except BrokenPipeError:
        run.reader_has_gone()
        return ExitCode.FINE
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED
    except Exception as error:  # noqa: BLE001 - the last place that can turn it into a sentence
        from pipelines.cli.frame.error_sentence import explain_error

        sentence, code = explain_error(error)
        say(sentence)
        if run.options.debug:
            traceback.print_exc()
        return code
    return run.exit_code


def _paths(given: dict[str, Any]) -> Iterator[Path]:
    """The files and folders among the arguments."""
    for value in given.values():
        yield from (path for path in (value if isinstance(value, list) else [value]) if isinstance(path, Path))


def refuse_addresses(given: dict[str, Any]) -> None:
    """Raise WrongUsage for an address among the files and folders of the arguments (`s3://…`)."""
    for path in _paths(given):
        if is_address(path):
            raise WrongUsage(why_refused(path))


def refuse_no_text(given: dict[str, Any]) -> None:
    """Raise WrongUsage for texts among the arguments that are not text: bytes of the shell that are no UTF-8."""
    for name, value in given.items():
        for text in value if isinstance(value, list) else [value]:
            if isinstance(text, str) and not text.isascii() and text != text.encode("utf-8", "replace").decode():
                raise WrongUsage(f"{name.replace('_', '-')}: {text!r} is no UTF-8 text")
