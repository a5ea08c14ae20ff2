// A classic script, not a module: modules wait until the document is parsed, and Firefox, and Safari before 18.2, paint it before
// they run. Users of the dark theme would see a white page first. The rest of the theme is in theme.js.
{
  const chosen = localStorage.getItem('agentcore.theme');
  if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.theme = chosen;
}
