#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-3.0-only
"""A statement does one thing: no conditional operator in place of an if, no comma operator. No compiler and no clang-tidy
check says so; this looks at the text, which is enough for statements on their own."""
import re
import sys
from pathlib import Path

from files import project_files

NO_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-zA-Z])\'(?:\\.|[^\'\\\n])*\''
                     r'|^[ \t]*#(?:[^\n\\]|\\.|\\\n)*', re.S | re.M)
ASSIGNMENT = re.compile(r"(?<![=!<>])=(?!=)")
KEYWORD = re.compile(r"(throw|case|default|using|template|struct|class|enum|friend|operator|static|constexpr|const|auto|typename)\b")
TEMPLATE = re.compile(r"<[^;]*,[^;]*>")


def code_of(text):
    """The text with comments, directives and what literals say blanked; lines stay where they are."""
    return NO_CODE.sub(lambda m: ('""' if m[0][0] in "\"R'" else "") + "\n" * m[0].count("\n"), text)


def statements(code):
    """(offset, text) of what ends in a semicolon outside of brackets."""
    depth, start, outer = 0, 0, []
    for i, c in enumerate(code):
        if c in "([":
            depth += 1
        elif c in ")]":
            depth -= 1
        elif c == "{":
            outer.append(depth)
            depth, start = 0, i + 1
        elif c == "}":
            depth, start = (outer.pop() if outer else 0), i + 1
        elif c == ";" and depth == 0:
            yield start, code[start:i]
            start = i + 1


def outside_brackets(text):
    depth, out = 0, ""
    for c in text:
        depth -= c in ")]"
        out += c if depth == 0 else ""
        depth += c in "(["
    return out


def fault(statement):
    text = outside_brackets(statement)
    if not re.match(r"[\w(*+-]", statement) or KEYWORD.match(statement):
        return None  # the rest of an initializer, or a declaration
    is_return = statement.startswith("return")
    question = text.find("?")
    if question >= 0 and not is_return and not ASSIGNMENT.search(text[:question]) and "<<" not in text:
        return "a conditional operator as a statement: write if and else"
    if re.match(r"\([^()]*(\([^()]*\)[^()]*)*\?", statement):
        return "a conditional operator chooses what a statement changes: write if and else"
    starts = r"return\b|[\w.\->:\[\]()*]+ ?([-+*/|]?=[^=]|\()|\+\+|--|\("
    if "," in text and re.match(starts, text) and not TEMPLATE.search(text):
        return "a comma operator: write a statement for each"
    return None


def main(top):
    files = project_files(top, "*.cpp", "*.hpp")
    bad = 0
    for path in files:
        code = code_of((Path(top) / path).read_text(errors="replace"))
        for start, text in statements(code):
            stripped = text.strip()
            if stripped and (what := fault(stripped)):
                line = code[:start + len(text) - len(text.lstrip())].count("\n") + 1
                print(f"[fail] {path}:{line}: {what}")
                bad += 1
    if not bad:
        print(f"[ok] plain statements ({len(files)} files)")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
