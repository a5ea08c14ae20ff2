/** Texts of the panel, by language and area: those of the page, and those that only the panel has. Chinese ones are loaded once they are needed. */
import {approval} from '../approval/strings.js';
import {chat} from '../chat/strings.js';
import {form} from '../form/strings.js';
import {hosts} from '../hosts/strings.js';
import {models} from '../models/strings.js';
import {queue} from '../queue/strings.js';
import {results} from '../results/strings.js';
import {shell} from '../shell/strings.js';
import {tools} from '../tools/strings.js';
import {ui} from '../ui/strings.js';
import {panel} from '../../panel/strings.js';

/** @typedef {'en' | 'zh'} Locale */
/** @typedef {string | Partial<Record<Intl.LDMLPluralRule, string>>} Text  a text, or one for each plural category of `n` */

/** @type {Record<Locale, Record<string, Record<string, Text>>>} */
export const strings = {
  en: {approval, chat, form, hosts, models, panel, queue, results, shell, tools, ui},
  zh: {},
};
