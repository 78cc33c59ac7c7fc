import { expect, it } from 'vitest'
import { isDiskFull } from '../../../local/database/data-directory.ts'

// From logs of MariaDB 10.11, and of MySQL 8.4.
it.each([
  [true, 'InnoDB: preallocating 12582912 bytes for file ./ibtmp1 failed with error 28'],
  [true, `mysqld: Error writing file './binlog.~rec~' (Errcode: 28 "No space left on device")`],
  [
    true,
    'Disk is full writing ./binlog.000002 (OS errno 28 - No space left on device). Waiting for someone to free space',
  ],
  [false, '2026-11-28 10:28:28 28 [ERROR] InnoDB: Tablespace size stored in header is 28 pages'],
  [false, "Can't start server: Bind on TCP/IP port: Address already in use (errno: 98)"],
])('A full disk is recognized in a log: %s, %s', (isFull, log) => expect(isDiskFull(log)).toBe(isFull))
