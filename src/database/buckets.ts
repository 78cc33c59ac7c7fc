/*
 * Rows are sharded by `bucket`, with the vindex `xxhash`. There are 256 buckets, one for each first byte of a record id. The number of a
 * bucket is the smallest one whose xxhash begins with that byte. So the keyspace id of a row begins as its record id does, and a part
 * of the record ids is on one shard. The record id itself cannot be the shard key: PlanetScale expects `hash` or `xxhash` for numbers,
 * and both would scatter neighboring ids.
 */

// biome-ignore format: one number for each first byte.
const BUCKETS = [
  397, 56, 16, 567, 119, 800, 880, 159, 90, 32, 578, 404, 485, 1389, 1525, 464, 223, 376, 121, 182, 314, 132, 738, 10, 139, 88, 802, 97, 15, 304, 49, 675,
  99, 246, 142, 129, 186, 163, 100, 396, 328, 606, 14, 177, 443, 169, 816, 135, 605, 143, 107, 209, 22, 232, 161, 381, 199, 517, 1195, 120, 71, 580, 356, 898,
  77, 57, 268, 432, 130, 108, 48, 378, 154, 118, 158, 140, 85, 73, 793, 341, 80, 224, 23, 39, 74, 81, 337, 31, 67, 692, 18, 251, 61, 50, 710, 101,
  17, 126, 47, 546, 8, 188, 316, 160, 179, 353, 589, 259, 196, 363, 330, 21, 125, 385, 111, 175, 215, 201, 75, 33, 43, 166, 151, 1623, 122, 657, 324, 521,
  20, 732, 291, 488, 920, 72, 44, 660, 78, 4, 94, 2, 40, 116, 338, 230, 319, 28, 490, 339, 549, 150, 24, 68, 212, 278, 9, 197, 178, 452, 195, 51,
  669, 361, 12, 146, 3, 329, 219, 19, 1135, 27, 1167, 147, 13, 136, 430, 183, 346, 585, 221, 181, 109, 300, 504, 7, 377, 41, 193, 293, 233, 303, 502, 1092,
  253, 211, 11, 69, 655, 168, 333, 403, 279, 98, 36, 437, 276, 172, 395, 55, 87, 282, 156, 249, 1, 137, 35, 58, 331, 37, 105, 375, 705, 112, 46, 446,
  96, 292, 238, 941, 260, 495, 25, 62, 1009, 240, 53, 173, 0, 5, 539, 92, 91, 254, 128, 93, 138, 274, 102, 6, 323, 86, 70, 104, 206, 63, 79, 83,
]

/** The bucket of a record id, or of a number that lies in its range. Rows of neither are in that of record id 0. */
export function bucketOf(id: bigint): number {
  return BUCKETS[Number(id >> 56n)]!
}

/** An SQL condition for ids and their buckets, the only way to name ids: vtgate asks only their shards. @param table an alias with a dot */
export function idsSql(column: 'record_id' | 'range_start', ids: bigint | readonly bigint[], table = ''): string {
  if (typeof ids === 'bigint') return `${table}${column} = ${ids} AND ${table}bucket = ${bucketOf(ids)}`
  return `${table}${column} IN (${ids.join(',')}) AND ${bucketsSql(ids, `${table}bucket`)}`
}

/** An SQL condition for the buckets of ids, beside others that name the ids. */
export function bucketsSql(ids: Iterable<bigint>, column = 'bucket'): string {
  return `${column} IN (${[...new Set([...ids].map(bucketOf))].join(',')})`
}
