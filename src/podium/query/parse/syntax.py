"""From text to a syntax tree, with limits against hostile input.

Comments, several statements, and texts that are too long or too deeply nested are refused before interpretation.
"""

from __future__ import annotations

import unicodedata

from sqlglot import Dialect, exp
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import Token, TokenType

from podium.errors import QuestionRefused

__all__ = ["parse_condition", "parse_statement", "tokens_of"]

_SQL = Dialect.get_or_raise(None)
_MAX_LENGTH = 20_000
_MAX_TOKENS = 2_000
_MAX_DEPTH = 40
_EXAMPLE = "Write: SELECT item, COUNT(DISTINCT user) AS n FROM t WHERE ... GROUP BY item ORDER BY n DESC LIMIT 10."
_CONDITION_EXAMPLE = "Write a condition like: country = 'DE' AND day >= DATE '2026-01-01'."


def parse_statement(text: str) -> exp.Expr:
    """The one statement that the text consists of."""
    return _parse(text, _EXAMPLE)


def parse_condition(text: str) -> exp.Expr:
    """The condition that the text consists of."""
    # Parsed as the tail of a statement; text that closes it early or extends it shows up beside WHERE.
    statement = _parse(f"SELECT 1 WHERE {_require_text(text, _CONDITION_EXAMPLE)}", _CONDITION_EXAMPLE)
    extra = [name for name, value in statement.args.items() if value and name not in {"expressions", "where"}]
    where = statement.args.get("where")
    if not isinstance(statement, exp.Select) or where is None or extra or len(statement.expressions) != 1:
        raise QuestionRefused(text, "it is more than one condition", hint=_CONDITION_EXAMPLE)
    return where.this  # type: ignore[no-any-return]


def tokens_of(text: str) -> list[Token]:
    """The tokens of the statement; their ``start`` and ``end`` are places in the text."""
    _require_text(text, _EXAMPLE)
    try:
        return _SQL.tokenize(text)
    except SqlglotError:
        raise QuestionRefused(text, "it is not SQL that podium can read", hint=_EXAMPLE) from None


def _require_text(text: object, hint: str) -> str:
    if not isinstance(text, str):
        raise QuestionRefused(type(text).__name__, "a question is text", hint=hint)
    if len(text) > _MAX_LENGTH:
        raise QuestionRefused(text, f"it is longer than {_MAX_LENGTH} characters", hint=hint)
    strange = next((c for c in text if unicodedata.category(c) in {"Cc", "Cf", "Cs", "Co"} and c not in "\t\n\r"), None)
    if strange is not None:
        raise QuestionRefused(
            f"U+{ord(strange):04X}", "control and format characters can hide what is asked", hint=hint
        )
    return text


def _parse(text: str, hint: str) -> exp.Expr:
    _require_text(text, hint)
    try:
        tokens = _SQL.tokenize(text)
        _check_tokens(tokens, text, hint)
        statements = [statement for statement in _SQL.parser().parse(tokens, text) if statement is not None]
    except (SqlglotError, RecursionError):
        raise QuestionRefused(text, "it is not SQL that podium can read", hint=hint) from None
    if len(statements) != 1:
        raise QuestionRefused(text, "it must be exactly one statement", hint=hint)
    return statements[0]


def _check_tokens(tokens: list[Token], text: str, hint: str) -> None:
    if any(token.comments for token in tokens) or "--" in _outside_strings(tokens) or "/*" in _outside_strings(tokens):
        raise QuestionRefused(text, "comments are not part of a question", hint=hint)
    if any(token.token_type is TokenType.SEMICOLON for token in tokens[:-1]):
        raise QuestionRefused(text, "it must be exactly one statement", hint=hint)
    if len(tokens) > _MAX_TOKENS:
        raise QuestionRefused(text, f"it has more than {_MAX_TOKENS} tokens", hint=hint)
    depth = deepest = 0
    for token in tokens:
        opens = token.token_type in {TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE, TokenType.CASE}
        closes = token.token_type in {TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE, TokenType.END}
        depth += opens - closes
        deepest = max(deepest, depth)
    if deepest > _MAX_DEPTH or sum(token.token_type is TokenType.NOT for token in tokens) > 10 * _MAX_DEPTH:
        raise QuestionRefused(text, f"it is nested more than {_MAX_DEPTH} deep", hint=hint)


def _outside_strings(tokens: list[Token]) -> str:
    quoted = {TokenType.STRING, TokenType.IDENTIFIER, TokenType.NATIONAL_STRING}
    return " ".join(token.text for token in tokens if token.token_type not in quoted)
