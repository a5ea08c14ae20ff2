/** Context that is sent to a view: theme, language and size. */
import {locale} from '../base/i18n.js';
import {shownTheme} from '../base/shown-theme.js';

/** Maximum height of a view; longer content scrolls inside it. */
export const LONGEST_PX = 800;
const LOWEST_PX = 32;

/** The page's colours and shapes, by their names in MCP Apps. */
const STYLES = {
  '--color-background-primary': '--ac-surface', '--color-background-secondary': '--ac-bg', '--color-background-tertiary': '--ac-surface-sunken',
  '--color-background-info': '--ac-accent-soft', '--color-background-danger': '--ac-danger-soft', '--color-background-success': '--ac-ok-soft', '--color-background-warning': '--ac-warn-soft',
  '--color-text-primary': '--ac-text', '--color-text-secondary': '--ac-text-muted', '--color-text-tertiary': '--ac-text-muted',
  '--color-text-info': '--ac-accent', '--color-text-danger': '--ac-danger', '--color-text-success': '--ac-ok', '--color-text-warning': '--ac-warn',
  '--color-border-primary': '--ac-border', '--color-border-secondary': '--ac-border-strong', '--color-ring-primary': '--ac-focus',
  '--font-sans': '--ac-font-sans', '--font-mono': '--ac-font-mono', '--font-weight-medium': '--ac-weight-medium', '--font-weight-bold': '--ac-weight-bold',
  '--font-text-xs-size': '--ac-text-xs', '--font-text-sm-size': '--ac-text-s', '--font-text-md-size': '--ac-text-m', '--font-text-lg-size': '--ac-text-l',
  '--border-radius-sm': '--ac-radius-s', '--border-radius-md': '--ac-radius-m', '--border-radius-lg': '--ac-radius-l',
};

/** @param {{width: number, height: number | null}} size  of the view, in pixels; without a height, it is inline in the chat and sets its own height */
export function hostContext({width, height}) {
  const style = getComputedStyle(document.documentElement);
  const variables = Object.fromEntries(Object.entries(STYLES).map(([name, own]) => [name, style.getPropertyValue(own).trim()]));
  return {
    theme: shownTheme(), styles: {variables}, locale: locale() === 'zh' ? 'zh-CN' : 'en', timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    displayMode: height === null ? 'inline' : 'fullscreen', availableDisplayModes: ['inline', 'fullscreen'],
    containerDimensions: height === null ? {width, maxHeight: LONGEST_PX} : {width, height}, platform: 'web',
    deviceCapabilities: {touch: matchMedia('(any-pointer: coarse)').matches, hover: matchMedia('(any-hover: hover)').matches},
  };
}

/** Limit a height to the range that a view may have. @param {number} wanted */
export function fitHeight(wanted) {
  return Math.min(Math.max(Math.ceil(wanted), LOWEST_PX), LONGEST_PX);
}
