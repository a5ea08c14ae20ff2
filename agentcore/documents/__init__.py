"""What files hold, for whoever cannot look at them: what kind they are, the text of PDFs, pictures of a size that fits.

What comes from anybody is read by a process of its own, which takes nothing else along where it goes wrong.
"""

from agentcore.documents.media_type import HEAD_BYTES, PICTURES, is_text, media_type
from agentcore.documents.pdf import PdfReader, PdfText
from agentcore.documents.picture import FittedImage, ImageFitter
from agentcore.documents.seen_text import seen_text
