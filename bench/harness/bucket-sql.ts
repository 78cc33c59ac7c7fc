import { bucketOf } from '../../src/database/buckets.ts'

const OF_BYTES = Array.from({ length: 256 }, (_, byte) => bucketOf(BigInt(byte) << 56n)).join(',')

/** SQL of the bucket of a record id, for rows that the database itself makes. @param recordId as SQL */
export function bucketSql(recordId: string): string {
  return `ELT((${recordId} >> 56) + 1, ${OF_BYTES})`
}
