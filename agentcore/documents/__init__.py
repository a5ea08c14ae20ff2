"""Content of files for models that cannot open them: media types, text of documents, images of a size that fits.

Files from untrusted sources are parsed in a separate process, so that a failure affects nothing else.
"""
