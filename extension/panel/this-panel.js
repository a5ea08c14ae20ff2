/** Identifies this document among the panels of all windows. A lock shows that it is alive: the browser releases it however the document ends. */

const PREFIX = 'panel.alive.';

export const panelId = crypto.randomUUID();

void navigator.locks.request(PREFIX + panelId, () => new Promise(() => {}));

/** Return the panels that are alive. @returns {Promise<Set<string>>} their ids */
export async function livingPanels() {
  const {held = []} = await navigator.locks.query();
  const names = held.flatMap(({name}) => (name?.startsWith(PREFIX) ? [name.slice(PREFIX.length)] : []));
  return new Set([...names, panelId]);
}
