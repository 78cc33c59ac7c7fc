/** The Worker's base path, which its pages name. Empty for the root. */
export function basePath(): string {
  return document.documentElement.dataset.base ?? ''
}
