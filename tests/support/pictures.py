"""Pictures for tests: whole ones, and damaged ones that programs without a decoder take for whole."""

import io

from PIL import Image


def picture(kind: str = "PNG", size: tuple[int, int] = (8, 8), *, noise: bool = False, color: str = "red") -> bytes:
    """An image file."""
    data = io.BytesIO()
    made = Image.effect_noise(size, 100).convert("RGB") if noise else Image.new("RGB", size, color)
    made.save(data, kind)
    return data.getvalue()
