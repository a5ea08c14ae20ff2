/**
 * Texts of the page, by language and feature folder; each folder defines its own in `strings.js`, and in `strings.zh.js` in Chinese. English is always
 * there; what the first view does not show is added by `later-strings.js`. `i18n.js` loads the other language once it is chosen.
 */
import {approval} from '../approval/strings.js';
import {chat} from '../chat/strings.js';
import {models} from '../models/strings.js';
import {modulePages} from '../module-pages/strings.js';
import {questions} from '../questions/strings.js';
import {queue} from '../queue/strings.js';
import {requirements} from '../requirements/strings.js';
import {results} from '../results/strings.js';
import {shell} from '../shell/strings.js';
import {tabs} from '../tabs/strings.js';
import {tools} from '../tools/strings.js';
import {ui} from '../ui/strings.js';
import {views} from '../views/strings.js';

/** @typedef {'en' | 'zh'} Locale */
/** @typedef {string | Partial<Record<Intl.LDMLPluralRule, string>>} Text  a text, or one for each plural category of `n` */

/** @type {Record<Locale, Record<string, Record<string, Text>>>} */
export const strings = {
  en: {approval, chat, 'module-pages': modulePages, models, questions, queue, requirements, results, shell, tabs, tools, ui, views},
  zh: {},
};
