/** English texts that the first view does not show. What shows them and is loaded with `import()` imports this file. */
import {strings} from './all-strings.js';
import {activity} from '../activity/strings.js';
import {clients} from '../clients/strings.js';
import {form} from '../form/strings.js';
import {hosts} from '../hosts/strings.js';
import {modules} from '../modules/strings.js';
import {settings} from '../settings/strings.js';
import {skills} from '../skills/strings.js';

Object.assign(strings.en, {activity, clients, form, hosts, modules, settings, skills});
