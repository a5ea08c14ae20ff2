/** Text artifact that is read in parts of whole lines. */
import {client} from '../client/client.js';

/** @typedef {{text: string, start: number, end: number}} Part  Offsets in bytes. */

const PART_BYTES = 64 * 1024;
const NEWLINE = 10;

export class ArtifactText {
  /** @param {string} id @param {number} sizeBytes */
  constructor(id, sizeBytes) {
    this.id = id;
    this._size = sizeBytes;
    this._path = `/api/artifacts/${encodeURIComponent(id)}`;
  }

  /**
   * Return the part that starts at an offset.
   * @param {number} start
   * @returns {Promise<Part>}
   */
  async partFrom(start) {
    const bytes = await this._read(start, Math.min(start + PART_BYTES, this._size));
    const isLast = start + bytes.length >= this._size;
    const newline = bytes.lastIndexOf(NEWLINE);
    // a line longer than a part is cut at a character boundary
    const length = isLast ? bytes.length : newline >= 0 ? newline + 1 : wholeCharacters(bytes);
    return {text: new TextDecoder().decode(bytes.subarray(0, length)), start, end: start + length};
  }

  /**
   * Return the part that ends at an offset.
   * @param {number} end
   * @returns {Promise<Part>}
   */
  async partUpTo(end) {
    const from = Math.max(end - PART_BYTES, 0);
    const bytes = await this._read(from, end);
    const newline = from === 0 ? -1 : bytes.indexOf(NEWLINE);
    const skipped = newline >= 0 && newline < bytes.length - 1 ? newline + 1 : from === 0 ? 0 : brokenBytes(bytes);
    return {text: new TextDecoder().decode(bytes.subarray(skipped)), start: from + skipped, end};
  }

  /**
   * Find the lines that contain a text, ignoring case.
   * @param {string} text
   * @returns {Promise<{matches: {line: number, offset: number, text: string}[], isCut: boolean}>}
   */
  search(text) {
    return client.get(`${this._path}/search?${new URLSearchParams({q: text, ignore_case: 'true', limit: '200'})}`);
  }

  /** @param {number} start @param {number} end */
  async _read(start, end) {
    if (end <= start) return new Uint8Array();
    const response = await client.fetch(this._path, {headers: {Range: `bytes=${start}-${end - 1}`}});
    return new Uint8Array(await response.arrayBuffer());
  }
}

/** Return the length without a truncated character at the end. @param {Uint8Array} bytes */
function wholeCharacters(bytes) {
  let length = bytes.length;
  while (length > 0 && (bytes[length - 1] & 0xc0) === 0x80) length -= 1;
  const lead = bytes[length - 1] ?? 0;
  return lead >= 0xc0 ? length - 1 : bytes.length;
}

/** Return the number of leading bytes that belong to a character that starts earlier. @param {Uint8Array} bytes */
function brokenBytes(bytes) {
  let count = 0;
  while (count < bytes.length && (bytes[count] & 0xc0) === 0x80) count += 1;
  return count;
}
