"""The text of PDFs."""

from pathlib import Path

import pytest

HOST = {"modules": ["fs_tools"]}


def make_pdf(*pages: str) -> bytes:
    """Return a PDF with a line of text on each page."""
    kids = " ".join(f"{3 + 2 * number} 0 R" for number in range(len(pages)))
    objects = ["<< /Type /Catalog /Pages 2 0 R >>", f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>"]
    for number, text in enumerate(pages):
        font = "<< /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >>"
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 300] /Resources << /Font {font} >> "
            f"/Contents {4 + 2 * number} 0 R >>"
        )
        drawing = f"BT /F1 12 Tf 20 200 Td ({text}) Tj ET" if text else ""
        objects.append(f"<< /Length {len(drawing)} >>\nstream\n{drawing}\nendstream")
    body = "%PDF-1.4\n"
    offsets = []
    for number, content in enumerate(objects, 1):
        offsets.append(len(body))
        body += f"{number} 0 obj\n{content}\nendobj\n"
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    size = len(objects) + 1
    body += f"xref\n0 {size}\n0000000000 65535 f \n{table}trailer\n<< /Size {size} /Root 1 0 R >>\n"
    return f"{body}startxref\n{body.index('xref')}\n%%EOF\n".encode()


@pytest.fixture(autouse=True)
def _needs_pypdf() -> None:
    pytest.importorskip("pypdf")


async def test_pdf_is_read_as_its_text_in_pages(call, text, root: Path) -> None:
    (root / "a.pdf").write_bytes(make_pdf("Hello harbour", "Second page"))
    result = await call("read_file", path="a.pdf")
    shown = text(result)
    assert "This is the text of the 2 pages of a PDF." in shown
    assert "--- page 1 of 2 ---" in shown
    assert "Hello harbour" in shown
    assert "Second page" in shown
    assert result.data["mime"] == "application/pdf"


async def test_text_of_a_pdf_is_paged_like_any_text(start, text, root: Path) -> None:
    (root / "a.pdf").write_bytes(make_pdf(*(f"page number {number}" for number in range(40))))
    host = await start()
    first = await host.call("read_file", path="a.pdf", limit=5)
    assert first.truncated
    assert '"offset": 6' in text(first)
    last = await host.call("read_file", path="a.pdf", offset=first.data["total_lines"])
    assert "page number 39" in text(last)


async def test_pdf_without_text_or_damaged_says_so(failure, root: Path) -> None:
    (root / "scan.pdf").write_bytes(make_pdf(""))
    (root / "bad.pdf").write_bytes(b"%PDF-1.4\nnothing")
    scan = await failure("read_file", path="scan.pdf")
    assert scan.type == "binary_file"
    assert "pictures alone" in scan.message
    assert (await failure("read_file", path="bad.pdf")).type == "binary_file"


async def test_edit_refuses_a_pdf(failure, root: Path) -> None:
    (root / "a.pdf").write_bytes(make_pdf("Hello") + b"\0")
    assert (await failure("edit", path="a.pdf", edits=[{"old": "Hello", "new": "x"}])).type == "binary_file"
