"""The text of documents."""

import io
import json
import tarfile
import zipfile
from functools import partial
from pathlib import Path

import pytest

HOST = {"modules": ["fs_tools"]}
FILES = Path(__file__).parent / "documents"


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


@pytest.fixture
def needs_pypdf() -> None:
    """Leave a test out where only the package itself is installed."""
    pytest.importorskip("pypdf")


@pytest.mark.more
@pytest.mark.usefixtures("needs_pypdf")
async def test_pdf_is_read_as_its_text_in_pages(call, text, root: Path) -> None:
    (root / "a.pdf").write_bytes(make_pdf("Hello harbour", "Second page"))
    result = await call("read_file", path="a.pdf")
    shown = text(result)
    assert "This is the text of the 2 pages of a PDF." in shown
    assert "--- page 1 of 2 ---" in shown
    assert "Hello harbour" in shown
    assert "Second page" in shown
    assert result.data["mime"] == "application/pdf"


@pytest.mark.more
@pytest.mark.usefixtures("needs_pypdf")
async def test_text_of_a_pdf_is_paged_like_any_text(start, text, root: Path) -> None:
    (root / "a.pdf").write_bytes(make_pdf(*(f"page number {number}" for number in range(40))))
    host = await start()
    first = await host.call("read_file", path="a.pdf", limit=5)
    assert first.truncated
    assert '"offset": 6' in text(first)
    last = await host.call("read_file", path="a.pdf", offset=first.data["total_lines"])
    assert "page number 39" in text(last)


@pytest.mark.more
@pytest.mark.usefixtures("needs_pypdf")
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


def zip_of(**parts: str | bytes) -> bytes:
    """Return a ZIP file; `__` in a name stands for a slash, `_dot_` for a dot."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name.replace("__", "/").replace("_dot_", "."), content)
    return file.getvalue()


def office(main: str, content: str | bytes, **parts: str | bytes) -> bytes:
    """Return an Office file whose main part is `main`."""
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"
    relations = f'<Relationships><Relationship Id="r" Type="{kind}" Target="{main}"/></Relationships>'
    file = io.BytesIO(zip_of(**parts))
    with zipfile.ZipFile(file, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("_rels/.rels", relations)
        archive.writestr(main, content)
    return file.getvalue()


@pytest.mark.parametrize(
    ("name", "title", "lines"),
    [
        (
            "report.docx",
            "Harbour report",
            [
                "This is the text of a Word document (DOCX).",
                "# Harbour",
                "Two cranes fell on Friday",
                "- first",
                "seen again",
                "| Crane | 1,200,000 € |",
                "Grüße 港口",
            ],
        ),
        (
            "costs.xlsx",
            "Harbour costs",
            [
                "This is the text of the 3 sheets of a workbook (XLSX).",
                "--- sheet 1 of 3: Costs ---",
                "row | A | B | C | D",
                "2 | Crane \\| old | 1200000.5 | 2026-03-01 | TRUE",
                "3 | Quay | 0.3 | 2026-03-02 14:30 | FALSE",
                "5 | Sum | =SUM(B2:B3)",
                "7 | … AZ: far away",
                "8 |  |  | 0.25 | 09:05",
                "--- sheet 2 of 3: Secret (hidden) ---",
            ],
        ),
        (
            "talk.pptx",
            "Harbour talk",
            ["--- slide 1 of 2 ---", "Cranes", "One", "Notes:", "Say it slowly", "| Crane | 9 |"],
        ),
        ("costs.ods", "", ["--- sheet 1 of 1: Costs ---", "2 | Crane | 1200000.5 | 2026-03-01", "1003 | last"]),
        ("report.odt", "", ["## Harbour", "Two cranes fell.", "- first", "| Crane | 9 |"]),
    ],
)
async def test_document_is_read_as_text(call, root, name, title, lines) -> None:
    (root / "a").write_bytes((FILES / name).read_bytes())  # its content decides, not its name
    result = await call("read_file", path="a")
    shown = [line.partition("\t")[2] or line for each in result.blocks() for line in each.text.splitlines()]
    told = "\n".join(shown)
    assert [line for line in lines if line not in told] == []
    assert "`edit` cannot change it." in told
    assert "unseen" not in told
    assert result.data["title"] == title
    assert result.data["mime"].startswith("application/vnd.")


async def test_word_document_with_tracked_changes_reads_as_if_they_were_accepted(call, text, root: Path) -> None:
    """Readers of attachments were reported to give models text that a document's reviewers had deleted."""
    body = """
        <w:p><w:r><w:t xml:space="preserve">It costs </w:t></w:r>
          <w:del w:id="1"><w:r><w:delText>100 €</w:delText><w:tab/></w:r></w:del>
          <w:ins w:id="2"><w:r><w:t>250 €</w:t></w:r></w:ins><w:r><w:t>.</w:t></w:r></w:p>
        <w:p><w:moveFrom w:id="3"><w:r><w:t>Delivery on Friday.</w:t></w:r></w:moveFrom></w:p>
        <w:p><w:pPr><w:rPr><w:del w:id="4"/></w:rPr></w:pPr><w:r><w:t>Paid in advance.</w:t></w:r></w:p>
        <w:p><w:moveTo w:id="5"><w:r><w:t>Delivery on Friday.</w:t></w:r></w:moveTo></w:p>"""
    namespace = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    content = (
        f'<w:document xmlns:w="{namespace}"><w:body>{"".join(map(str.strip, body.splitlines()))}</w:body></w:document>'
    )
    (root / "a.docx").write_bytes(office("word/document.xml", content))
    result = await call("read_file", path="a.docx", raw=True)
    assert text(result).endswith("It costs 250 €.\n\nPaid in advance.\nDelivery on Friday.")


async def test_rows_of_a_sheet_come_in_parts(call, root) -> None:
    (root / "a.xlsx").write_bytes((FILES / "costs.xlsx").read_bytes())
    part = await call("read_file", path="a.xlsx", offset=4, limit=1, raw=True)
    assert "2 | Crane" in part.blocks()[2].text
    assert part.truncated


async def test_notebook_is_read_as_cells_and_raw_as_json(call, root) -> None:
    picture = {"image/png": "iVBORw0KGgo=", "text/plain": ["<Figure>"]}
    cells = [
        {"cell_type": "markdown", "source": ["# Harbour\n", "text"]},
        {
            "cell_type": "code",
            "source": "print(1)",
            "outputs": [
                {"output_type": "stream", "name": "stdout", "text": ["1\n"]},
                {"output_type": "display_data", "data": picture},
                {"output_type": "error", "ename": "E", "evalue": "v", "traceback": ["\x1b[31mboom\x1b[0m"]},
            ],
        },
    ]
    body = json.dumps({"cells": cells, "nbformat": 4})
    (root / "a.ipynb").write_text(body)
    result = await call("read_file", path="a.ipynb")
    told = "\n".join(each.text for each in result.blocks())
    for line in ("--- cell 1 of 2: markdown ---", "# Harbour", "print(1)", "<Figure>", "[image/png, 9 bytes]", "boom"):
        assert line in told
    assert "`raw` gives the JSON itself" in told
    assert (await call("read_file", path="a.ipynb", raw=True)).blocks()[1].text == body
    assert (await call("read_file", path="a.ipynb", encoding="utf-8")).data["encoding"] == "utf-8"


async def test_book_is_read_in_order_of_its_chapters(call, root) -> None:
    root_file = (
        '<package><metadata><dc:title xmlns:dc="d">Sea</dc:title></metadata><manifest><item id="b" href="b.xhtml"/>'
        '<item id="a" href="a%20a.xhtml"/></manifest><spine><itemref idref="a"/><itemref idref="b"/></spine></package>'
    )
    book = io.BytesIO()
    with zipfile.ZipFile(book, "w") as archive:
        archive.writestr("mimetype", "application/epub+zip")
        container = '<container><rootfiles><rootfile full-path="x/b.opf"/></rootfiles></container>'
        archive.writestr("META-INF/container.xml", container)
        archive.writestr("x/b.opf", root_file)
        archive.writestr(
            "x/a a.xhtml",
            "<!DOCTYPE html><html><head><title>no</title></head><h1>One</h1><p>a&nbsp;&amp;\n b</p></html>",
        )
        archive.writestr("x/b.xhtml", "<html><script>no</script><p>two<br/>lines</p></html>")
    (root / "sea.epub").write_bytes(book.getvalue())
    result = await call("read_file", path="sea.epub", raw=True)
    assert result.blocks()[2].text == "--- chapter 1 of 2 ---\n# One\n\na & b\n\n--- chapter 2 of 2 ---\ntwo\nlines"
    assert result.data["title"] == "Sea"


@pytest.mark.more
async def test_archives_are_listed(call, root) -> None:
    (root / "a.zip").write_bytes(zip_of(docs__a_dot_txt="hello", b="x" * 5000))
    for kind in ("", "gz", "bz2", "xz"):
        with tarfile.open(root / f"a.tar{kind and f'.{kind}'}", f"w:{kind}") as archive:
            archive.add(root / "a.zip", "deep/a.zip")
    told = (await call("read_file", path="a.zip", raw=True)).blocks()
    assert "the list of the 2 entries of a ZIP archive" in told[0].text
    assert told[2].text.splitlines()[0].endswith("docs/a.txt")
    for kind in ("a.tar", "a.tar.gz", "a.tar.bz2", "a.tar.xz"):
        assert "deep/a.zip" in (await call("read_file", path=kind, raw=True)).blocks()[2].text


_LAUGHS = '<!DOCTYPE d [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]><d><p><t>&b;</t></p></d>'
_OUTSIDE = '<!DOCTYPE d [<!ENTITY a SYSTEM "file:///etc/passwd">]><d><p><t>&a;</t></p></d>'
_DEEP = "<d>" * 200_000


def _huge_document(size: int) -> bytes:
    return office("word/document.xml", "<d>" + " " * size + "</d>")


@pytest.mark.more
@pytest.mark.parametrize(
    ("body", "why"),
    [
        (office("word/document.xml", _LAUGHS), "it declares a document type"),
        (office("word/document.xml", _LAUGHS.encode("utf-16")), "it declares a document type"),
        (office("word/document.xml", _OUTSIDE), "it declares a document type"),
        (office("word/document.xml", _DEEP), "it is damaged"),
        (partial(_huge_document, 410 << 20), "it unpacks to more than 400 MiB"),
        (office("word/other.xml", "<d/>").replace(b"word/other.xml", b"word/gone1.xml", 1), "it is damaged"),
        (office("xl/workbook.bin", "x"), "save or convert it as XLSX"),
        ((FILES / "report.docx").read_bytes()[:20_000], "it is damaged"),
        (b"PK\x03\x04" + bytes(60), "it is damaged"),
        (b"\x1f\x8b" + bytes(60), "decompress it with a program"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "soffice --headless --convert-to"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "EncryptedPackage".encode("utf-16-le"), "locked with a password"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_document_that_cannot_be_read_says_why(failure, root, body, why) -> None:
    # one takes a second to make: not wherever this file is read
    (root / "a.docx").write_bytes(body if isinstance(body, bytes) else body())
    error = await failure("read_file", path="a.docx")
    assert (error.type, why in error.message) == ("binary_file", True), error.message


@pytest.mark.more
async def test_huge_sheet_is_bounded_and_says_so(call, root) -> None:
    rows = "".join(f'<row r="{number}"><c r="A{number}"><v>{number}</v></c></row>' for number in range(1, 300_001))
    relations = '<Relationships><Relationship Id="s" Type="x/worksheet" Target="s.xml"/></Relationships>'
    book = office(
        "xl/workbook.xml",
        '<workbook xmlns:r="r"><sheets><sheet name="Big" r:id="s"/></sheets></workbook>',
        xl___rels__workbook_dot_xml_dot_rels=relations,
        xl__s_dot_xml=f"<worksheet>{rows}</worksheet>",
    )
    (root / "big.xlsx").write_bytes(book)
    result = await call("read_file", path="big.xlsx", limit=3)
    assert "only the first 2,000,000 characters are read" in result.blocks()[0].text
    assert result.data["total_lines"] > 100_000


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        (
            "a.csv",
            b"id;price;when\n1;1.200,50;01.03.2026\n",
            "semicolons; columns id (integer), price (number with decimal comma), when (date)",
        ),
        (
            "a.TSV",
            b"zip\tok\tat\n01067\ttrue\t2026-03-01T09:30Z\n",
            "tabs; columns zip (text), ok (true or false), at (date and time)",
        ),
        (
            "a.csv",
            b'what,sum\n"Crane, old","1,200,000.50"\n"two\nlines",\n',
            "commas; columns what (text), sum (number with thousands separators)",
        ),
        ("a.csv", b"1,2.5,\n2,3e4,\n", "commas, without a row of names; columns 1 (integer), 2 (number), 3 (empty)"),
        ("a.csv", b"one\nx\n", "commas; columns one (text)"),
        ("a.csv", "\ufeffnäme,tïme\nx,9:05\n".encode(), "columns näme (text), tïme (time)"),
        ("a.csv", b"name,n\n" + b"x,1\n" * 5_000, "columns name (text), n (integer), judged by the first 1,000 rows"),
        ("a.csv", b",".join(b"c%d" % number for number in range(90)) + b"\n", "c59 (empty), and 30 more"),
    ],
)
async def test_columns_of_a_csv_file_are_told_with_their_types_above_its_lines(call, text, root, name, content, said):
    (root / name).write_bytes(content)
    result = await call("read_file", path=name)
    assert said in result.blocks()[0].text.splitlines()[1]
    assert content.decode("utf-8-sig").splitlines()[0] in result.blocks()[1].text


@pytest.mark.parametrize(
    ("name", "content"),
    [("a.txt", b"a,b\n1,2\n"), ("a.csv", b""), ("a.csv", b"\n\n"), ("a.csv", b'"' + b"x" * 200_000)],
)
async def test_file_without_columns_is_read_as_any_text(call, root, name, content):
    (root / name).write_bytes(content)
    assert len((await call("read_file", path=name)).blocks()[0].text.splitlines()) == 1


async def test_later_lines_and_raw_lines_of_a_csv_file_come_alone(call, root):
    (root / "a.csv").write_bytes(b"a,b\n1,2\n")
    for arguments in ({"offset": 2}, {"raw": True}):
        assert "columns" not in (await call("read_file", path="a.csv", **arguments)).blocks()[0].text
