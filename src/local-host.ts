/**
 * The hosts of this machine: localhost, 127.*.*.* and [::1]. No public name begins with 127 and ends in a digit. It is short because
 * the script that counts has it too, word for word: a test compares them.
 */
export const LOCAL_HOST = /.::1.|127.*\d|localhost/

/** Whether a host, as URLs name it, is this machine. */
export function isLocalHost(hostname: string): boolean {
  return hostname.replace(LOCAL_HOST, '') === ''
}
