"""Texts of files that are neither marked nor UTF-8, as they occur: prose, comments, lists."""

from pathlib import Path

import pytest
from agentcore_fs_tools.text.encoding import detect_form
from hypothesis import given
from hypothesis import strategies as st

HOST = {"modules": ["fs_tools"]}

FRENCH = (
    "C'est déjà l'été à Nîmes, où ça brûle.",
    "# Vérifie que le répertoire existe déjà\nif not os.path.isdir(chemin):\n    raise Erreur('Dossier non trouvé')\n",
    "Impossible de créer le fichier temporaire : accès refusé.\nLe système est en cours d'arrêt.\n",
)
GERMAN = (
    "Größe und Maß",
    "// Längenprüfung für Würfel\nint laenge = 3;\n",
    "Übergrößenträger dürfen nur geöffnet werden,\nwenn die Prüfung abgeschlossen ist.\n",
)
SPANISH = (
    "¿Qué pasó en España mañana?",
    "# Tamaño máximo de la imagen, en píxeles\ntamano = 640\n",
    "No se pudo abrir la conexión: el servidor no respondió.\nInténtelo de nuevo más tarde.\n",
)
SHORT = (  # of which each could be Polish or Czech by its bytes
    "café",
    "naïve\n",
    "café naïve über straße garçon\n",
    "Mañana será otro día\n",
    "Peña, José",
    "¿Qué pasa? ¡Hola! 5º piso 3ª",
    "tête-à-tête",
    "Perché è così",
    "lundi 3 août 2020 à Noël",
    "25 °C ± 3 µm",
)
POLISH = (
    "Zażółć gęślą jaźń",
    "# Przełącznik źródła danych\nzrodlo = 1\n",
    "Nie można otworzyć pliku: brak uprawnień.\nSpróbuj ponownie później albo użyj innej ścieżki.\n",
)
CZECH = (
    "# Přepínač zdroje, žádný není povolený\nzdroj = 1\n",
    "Soubor nelze otevřít: přístup byl odepřen.\nZkuste to prosím znovu později.\n",
)
RUSSIAN = (
    "# Прочитать настройки\n",
    "Не удалось открыть файл: доступ запрещён.\nПопробуйте ещё раз позже.\n",
)
CHINESE = (
    "# 读取配置文件\n",
    "无法打开文件：权限不足。\n请稍后再试，或者选择其他路径。\n",
    "使用Git提交代码时，请在message里写明原因。\n",
)
SAMPLES = [
    (text, encoding)
    for texts, encodings in (
        ((*FRENCH, *GERMAN, *SPANISH), ("latin-1", "cp1252")),
        (POLISH, ("cp1250", "iso8859-2")),
        (CZECH, ("cp1250",)),
        (RUSSIAN, ("cp1251", "koi8-r")),
        (CHINESE, ("gbk",)),
    )
    for text in texts
    for encoding in encodings
]


@pytest.mark.spec("T2")
@pytest.mark.parametrize(("content", "encoding"), SAMPLES)
async def test_text_in_an_old_encoding_reads_as_it_was_written_and_stays_so(
    call, root: Path, content: str, encoding: str
) -> None:
    (root / "a.txt").write_bytes(content.encode(encoding))
    result = await call("read_file", path="a.txt", raw=True)
    assert result.blocks()[1].text == content
    word = max(content.split(), key=len)
    await call("edit", path="a.txt", edits=[{"old": word, "new": f"{word}{word}", "all": True}])
    assert (root / "a.txt").read_bytes() == content.replace(word, word + word).encode(encoding)
    await call("write_file", path="a.txt", content=content)
    assert (root / "a.txt").read_bytes() == content.encode(encoding)


def test_latin_1_is_named_as_what_most_such_files_are() -> None:
    for text in (*FRENCH, *GERMAN, *SPANISH, *SHORT):
        form = detect_form(text.encode("latin-1"), is_whole=True)
        assert form is not None
        assert form.label == "cp1252 (guessed)", text


def test_signs_do_not_stand_in_words() -> None:
    for text, encoding in (("książka", "cp1250"), ("Łukasz", "cp1250"), ("Bucureşti, Ţara mea şi oraşul", "cp1250")):
        form = detect_form(text.encode(encoding), is_whole=True)
        assert form is not None
        assert text.encode(encoding).decode(form.encoding) == text


@given(st.binary(min_size=1, max_size=300).map(lambda raw: raw.replace(b"\0", b"") + b"\xe9"))
def test_whatever_is_guessed_can_be_read(raw: bytes) -> None:
    form = detect_form(raw, is_whole=True)
    if form is not None:
        form.decode(raw, "a.txt", errors="replace").encode("utf-8")
