// Runs in the page's own world with the console's `getEventListeners`: reports which elements scripts listen to, by an
// event on each that only the engine's world receives. An element that listens to nearly everything is a framework's root.

(name => {
  const wanted = new Set(['click', 'dblclick', 'auxclick', 'contextmenu', 'mousedown', 'mouseup', 'pointerdown',
    'pointerup', 'touchstart', 'touchend', 'dragstart', 'drop']);
  const MOST = 20;
  let left = 20_000;
  const look = root => {
    for (const element of root.querySelectorAll('*')) {
      const types = Object.keys(getEventListeners(element));
      if (types.length && types.length <= MOST && left && types.some(type => wanted.has(type))) {
        left -= 1;
        EventTarget.prototype.dispatchEvent.call(element, new Event(name, { composed: true }));
      }
      if (element.shadowRoot) look(element.shadowRoot);
    }
  };
  look(document);
})(HEARD_EVENT)
