/** This document among the panels of all windows. A lock says that it lives: the browser gives it back however it ends. */

const PREFIX = 'panel.alive.';

/** The id of this panel. */
export const panelId = crypto.randomUUID();

void navigator.locks.request(PREFIX + panelId, () => new Promise(() => {}));

/** Which panels there are. @returns {Promise<Set<string>>} their ids */
export async function livingPanels() {
  const {held = []} = await navigator.locks.query();
  const names = held.flatMap(({name}) => (name?.startsWith(PREFIX) ? [name.slice(PREFIX.length)] : []));
  return new Set([...names, panelId]);
}
