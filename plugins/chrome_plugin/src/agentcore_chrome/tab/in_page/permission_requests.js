// Runs in a page's own world before its scripts: notes what the page asks permission for, as no event of the browser tells.
// The engine's world asks for the notes by an event whose name no page can know, and hears an event for each.

(name => {
  const asked = new Set();
  const { apply } = Reflect;
  const add = asked.add.bind(asked);
  const dispatch = document.dispatchEvent.bind(document);
  const watch = (owner, method, permissionsOf) => {
    if (typeof owner?.[method] !== 'function') return;
    owner[method] = new Proxy(owner[method], {
      apply(own, self, given) {
        permissionsOf(given[0]).forEach(add);
        return apply(own, self, given);
      },
    });
  };
  watch(window.Geolocation?.prototype, 'getCurrentPosition', () => ['geolocation']);
  watch(window.Geolocation?.prototype, 'watchPosition', () => ['geolocation']);
  watch(window.Notification, 'requestPermission', () => ['notifications']);
  watch(window.MediaDevices?.prototype, 'getUserMedia', wanted => [
    ...(wanted?.video ? ['camera'] : []), ...(wanted?.audio ? ['microphone'] : []),
  ]);
  watch(window.Clipboard?.prototype, 'read', () => ['clipboard-read']);
  watch(window.Clipboard?.prototype, 'readText', () => ['clipboard-read']);
  watch(window.Navigator?.prototype, 'requestMIDIAccess', () => ['midi']);
  document.addEventListener(name, event => {
    event.stopImmediatePropagation();
    for (const permission of asked) dispatch(new Event(`${name}-${permission}`));
    asked.clear();
  }, true);
})(ASKED_EVENT);
