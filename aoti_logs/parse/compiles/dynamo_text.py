"""What Dynamo writes around the message of an exception: explanation and hints before it is raised
(torch/_dynamo/exc.py, format_graph_break_message), the user's frames and advice behind it
(augment_exc_message, `from user code:`).
"""

from __future__ import annotations

from aoti_logs.parse.compiles.failure import Unsupported, UserFrame
from aoti_logs.parse.shape import fields, first

_BEHIND = (
    "\nfrom user code:\n",
    "\nSet TORCHDYNAMO_VERBOSE",
    "\nSet TORCH_LOGS=",
    "\nYou can suppress this exception",
    "\nThe error above occurred when calling torch.export",
)
_CHAINED = ("\nThe above exception was", "\nDuring handling of the above")
_WORKER = "An exception occurred in a subprocess:"  # the chain of the worker's exceptions stands in the text
_URL = "For more details about this graph break, please visit: "
_MOST = 400  # lines


def split_text(text: str) -> tuple[str, str]:
    """Return the exception's own text, and what stands behind it."""
    behind = _BEHIND if _WORKER in text else _BEHIND + _CHAINED
    at = min((p for words in behind if (p := text.find(words)) >= 0), default=len(text))
    return text[:at].rstrip(), text[at:]


def user_frames(behind: str) -> tuple[UserFrame, ...]:
    """Return the frames under `from user code:`, outermost first."""
    _, told, below = behind.partition("from user code:")
    return frames_in("\n".join(below.split("\n")[1:_MOST])) if told else ()


def frames_in(text: str) -> tuple[UserFrame, ...]:
    """Return the frames of a text, outermost first, up to the first blank line behind one."""
    frames: list[UserFrame] = []
    for line in text.split("\n")[:_MOST]:
        row = line.strip()[:4096]
        if row.startswith('File "'):
            found = fields("traceback", "frame", row)
            if found is not None:
                frames.append(
                    UserFrame(found["FILE"][0], int(found["LINE"][0][:9]), first(found, "FUNCTION"), None)
                )
        elif not row and frames:
            break
        elif row and frames and frames[-1].code is None and not row.startswith(("^", "~")):
            last = frames[-1]
            frames[-1] = UserFrame(last.file, last.line, last.function, row)
    return tuple(frames)


def unsupported(text: str) -> Unsupported | None:
    """Read explanation, hints and address; None when there is none of them (torch before 2.7)."""
    parts: dict[str, list[str]] = {}
    url = now = None
    for line in text.split("\n")[:_MOST]:
        words = line.strip()
        if words.startswith(_URL):
            url, now = words.removeprefix(_URL), None
            continue
        name = next(
            (n for n in ("Explanation", "Hint", "Developer debug context") if words.startswith(f"{n}:")), None
        )
        if name is not None and line.startswith("  "):
            parts.setdefault(name, []).append(words.removeprefix(f"{name}:").strip())
            now = name
        elif now is not None and words:
            parts[now][-1] += f" {words}"
    if not parts and url is None:
        return None
    return Unsupported(
        explanation=next(iter(parts.get("Explanation", [])), None) or None,
        hints=tuple(h for h in parts.get("Hint", []) if h),
        context=next(iter(parts.get("Developer debug context", [])), None) or None,
        url=url,
    )
