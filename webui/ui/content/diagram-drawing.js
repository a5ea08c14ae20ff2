/**
 * Draws diagrams with Mermaid in a hidden frame that has no origin: what a diagram contains cannot reach the page, and the styles that
 * Mermaid writes need no exception in the page's policy. The page shows the result as an image, in which nothing runs or loads.
 */
const ORIGIN = document.querySelector('meta[name="agentcore-views-origin"]')?.getAttribute('content') ?? '';
const SOURCE_CHARS = 20_000;
const SVG_CHARS = 2_000_000;
const SIDE_PX = 20_000;
const MESSAGE_CHARS = 500;
const LIMIT_MS = 30_000; // to load the frame, or to draw one diagram: the rest of the queue waits for it
const IDLE_MS = 60_000;

/** @typedef {{address: string, width: number, height: number, label: string}} Drawing */

/** True if there is a frame to draw in: the side panel of the extension has none. */
export const canDraw = ORIGIN !== '';
/** The frame, once it is ready. @type {Promise<HTMLIFrameElement> | null} */
let frame = null;
let number = 0;
/** @type {Promise<unknown>} */
let last = Promise.resolve();
/** @type {ReturnType<typeof setTimeout> | undefined} */
let idle;

/**
 * Draw a diagram.
 * @param {string} source
 * @param {'light' | 'dark'} theme
 * @returns {Promise<Drawing>}
 * @throws with what Mermaid reports
 */
export function draw(source, theme) {
  if (source.length > SOURCE_CHARS) return Promise.reject(new Error(`more than ${SOURCE_CHARS} characters`));
  const drawing = last.then(() => drawNow(source, theme));
  last = drawing.catch(() => {});
  return drawing;
}

/** @param {string} source @param {'light' | 'dark'} theme @returns {Promise<Drawing>} */
async function drawNow(source, theme) {
  clearTimeout(idle);
  try {
    const id = ++number;
    const {contentWindow} = await (frame ??= open());
    const reply = receive(contentWindow, (data) => data.id === id);
    contentWindow?.postMessage({id, source, theme: theme === 'dark' ? 'dark' : 'default', maxChars: SOURCE_CHARS}, '*');
    return readReply(await reply);
  } finally {
    idle = setTimeout(close, IDLE_MS);
  }
}

/** @returns {Promise<HTMLIFrameElement>} */
async function open() {
  const made = document.createElement('iframe');
  made.setAttribute('sandbox', 'allow-scripts');
  made.setAttribute('aria-hidden', 'true');
  made.tabIndex = -1;
  made.title = 'Mermaid';
  // it measures texts, so it must be laid out
  Object.assign(made.style, {position: 'fixed', inset: '0 auto auto 0', width: '1200px', height: '800px', border: '0', visibility: 'hidden', pointerEvents: 'none', zIndex: '-1'});
  made.src = `${ORIGIN}/views/diagrams`;
  document.body.append(made);
  await receive(made.contentWindow, (data) => data.isReady === true);
  return made;
}

/** End the frame, and what it may still be doing. */
function close() {
  for (const made of document.querySelectorAll(`iframe[src="${ORIGIN}/views/diagrams"]`)) made.remove();
  frame = null;
}

/**
 * Wait for a message of the frame.
 * @param {Window | null} sender @param {(data: Record<string, unknown>) => boolean} isWanted @returns {Promise<Record<string, unknown>>}
 */
function receive(sender, isWanted) {
  return new Promise((resolve, reject) => {
    const stop = () => { clearTimeout(timer); window.removeEventListener('message', listen); };
    const listen = (/** @type {MessageEvent} */ {source, data}) => {
      if (source !== sender || typeof data !== 'object' || data === null || !isWanted(data)) return;
      stop();
      resolve(data);
    };
    const timer = setTimeout(() => { stop(); close(); reject(new Error(`not drawn within ${LIMIT_MS / 1000} s`)); }, LIMIT_MS);
    window.addEventListener('message', listen);
  });
}

/** @param {Record<string, unknown>} reply @returns {Drawing} */
function readReply({svg, width, height, label, error}) {
  if (typeof svg !== 'string' || typeof label !== 'string') throw new Error(String(error).slice(0, MESSAGE_CHARS));
  if (svg.length > SVG_CHARS || !isSide(width) || !isSide(height)) throw new Error('the diagram is too large');
  const address = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  return {address, width: Math.ceil(width), height: Math.ceil(height), label: label.slice(0, MESSAGE_CHARS)};
}

/** @param {unknown} value @returns {value is number} */
const isSide = (value) => typeof value === 'number' && value > 0 && value <= SIDE_PX;
