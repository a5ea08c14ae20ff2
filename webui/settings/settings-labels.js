/** Names and descriptions of settings: the page's own texts for app.json, the module's texts for its settings. */
import {hasText, t} from '../base/i18n.js';
import {shapeOf} from '../schema/shape.js';

/** @typedef {import('./settings-model.js').SettingsDocument} SettingsDocument */
/** @typedef {{path: string[], pointer: string, part?: import('../schema/shape.js').Schema, schema?: import('../schema/shape.js').Schema}} Place */

/** @param {SettingsDocument} document @param {Place} place */
export function settingLabel(document, place) {
  const key = `settings.label.${place.path.join('.')}`;
  if (document.module === null && hasText(key)) return t(key);
  const {title} = schemaOf(document, place);
  const name = place.path.at(-1) ?? '';
  // a title that was generated from the name reads worse than the name split into words
  const isOwn = title && title.replaceAll(' ', '').toLowerCase() !== name.replaceAll(/[_\s]/g, '').toLowerCase() && place.part;
  return isOwn ? title : inWords(name);
}

/** @param {SettingsDocument} document @param {Place} place */
export function settingHint(document, place) {
  const key = `settings.hint.${place.path.join('.')}`;
  if (document.module === null && hasText(key)) return t(key);
  const schema = schemaOf(document, place);
  return schema['x-family'] ? t('settings.blocks') : schema.description ?? '';
}

/** @param {SettingsDocument} document @param {Place} place */
function schemaOf(document, {part, schema}) {
  return schema ?? shapeOf(part ?? {}, document.schema ?? {}).schema;
}

/** Return `base_url` and `baseUrl` as `Base url`. @param {string} name */
function inWords(name) {
  const words = name.replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2').replaceAll('_', ' ').trim().toLowerCase();
  return words ? words[0].toUpperCase() + words.slice(1) : name;
}
