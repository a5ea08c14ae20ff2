/** A Lit controller for files that are dragged over an element and dropped there. */
export class FileDrop {
  /** @param {import('lit').LitElement} host @param {(files: File[]) => void} take */
  constructor(host, take) {
    this._host = host;
    this._take = take;
    /** The number of nested elements under the pointer: an inner one is entered before the outer one is left. */
    this._depth = 0;
    host.addController(this);
  }

  get isOver() {
    return this._depth > 0;
  }

  hostConnected() {
    for (const type of ['dragenter', 'dragover', 'dragleave', 'drop']) this._host.addEventListener(type, this);
  }

  hostDisconnected() {
    for (const type of ['dragenter', 'dragover', 'dragleave', 'drop']) this._host.removeEventListener(type, this);
    this._depth = 0;
  }

  /** @param {Event} event */
  handleEvent(event) {
    const {type, dataTransfer} = /** @type {DragEvent} */ (event);
    if (!dataTransfer?.types.includes('Files')) return;
    event.preventDefault(); // otherwise the browser would open the file instead of the page
    if (type === 'dragover') dataTransfer.dropEffect = 'copy';
    else this._move(type === 'dragenter' ? this._depth + 1 : type === 'dragleave' ? this._depth - 1 : 0);
    if (type === 'drop') this._take([...dataTransfer.files]);
  }

  /** @param {number} depth */
  _move(depth) {
    this._depth = Math.max(0, depth);
    this._host.requestUpdate();
  }
}
