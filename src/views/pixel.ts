/** The smallest image that browsers accept: a transparent pixel, GIF89a. */
export const PIXEL = Uint8Array.from(atob('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7'), (character) =>
  character.charCodeAt(0),
)
