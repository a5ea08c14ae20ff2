"""Content of files for models that cannot open them: media types, text of documents, images of a size that fits.

Files from untrusted sources are parsed in a separate process, so that a failure affects nothing else.
"""

from agentcore.documents.csv_columns import CsvColumns, read_csv_columns
from agentcore.documents.document_reader import DocumentReader, DocumentText
from agentcore.documents.image_fitting import FittedImage, ImageFitter
from agentcore.documents.kinds import DOCUMENT_HEAD_BYTES, DocumentKind, detect_document
from agentcore.documents.media_type import HEAD_BYTES, PICTURES, is_text, media_type
from agentcore.documents.seen_text import seen_text
from agentcore.documents.text_lines import ArtifactLines, find_lines, slice_lines, split_lines
