import type { Database } from '../../database/database.ts'
import { counterId } from '../keys/counter-address.ts'
import { readNames } from '../keys/names.ts'
import { includes, type Prefix, rangeStartOf, readBuilds, type TypeBuilds } from '../prefix-builds.ts'

/** The most statements that prefixes add to a transaction: to read builds and names, and to write the sums. */
const STATEMENTS = 3

const NOTHING: ReadonlyMap<number, TypeBuilds> = new Map()

/** A prefix of keys whose sums are to be kept. */
export type DeclaredPrefix = Pick<Prefix, 'recordType' | 'text'>

/** A counter whose history changes, with its name if it is known. */
export interface NamedCounter {
  recordType: number
  recordId: bigint
  name?: string | null
}

/** The sums of types and prefixes to which a transaction adds what it adds to their counters. */
export interface SumsPlace {
  /** The lane: a record id of the range. Transactions in different lanes do not wait for each other. */
  rangeLane: bigint
  /** The version of the builds on which the transaction relies. The database compares it. */
  versionOf(recordType: number): bigint
  /** The hashes of the prefixes whose sums include a counter. */
  prefixesOf(counter: NamedCounter): readonly bigint[]
  /** Whether it is known which prefixes a counter has. */
  isNamed(counter: NamedCounter): boolean
  /** To be called if the database has another version: the next transaction reads the builds again. */
  outdated(): void
}

/**
 * The builds of prefixes that an isolate remembers. Plain data, shared by its requests.
 *
 * They may be out of date. So the statement that adds to the history of types compares the version, and the transaction is rolled
 * back if the database has another one. Types without prefixes therefore cost no statement, and an isolate with an older
 * configuration cannot leave a prefix out.
 */
export class KeptSums {
  readonly declared: readonly DeclaredPrefix[]
  /** The record types with string keys, whose counters must have a name before they are rolled up. */
  readonly namedTypes: readonly number[]
  readonly #declaring: ReadonlySet<number>
  readonly #known = new Map<bigint, ReadonlyMap<number, TypeBuilds>>()
  readonly #outdated = new Set<bigint>()

  /**
   * @param declared the prefixes of the types in the configuration
   * @param namedTypes the record types with string keys
   */
  constructor(declared: readonly DeclaredPrefix[] = [], namedTypes: readonly number[] = []) {
    this.declared = declared
    this.namedTypes = namedTypes
    this.#declaring = new Set(declared.map(({ recordType }) => recordType))
  }

  /** The most statements that prefixes add to a transaction. */
  get statements(): number {
    return this.#declaring.size > 0 ? STATEMENTS : 0
  }

  /** Forgets the builds of a range. */
  forget(rangeStart: bigint): void {
    this.#known.delete(rangeStart)
    this.#outdated.add(rangeStart)
  }

  /** Finds the sums to which a transaction adds. Call it before the transaction takes locks. */
  async placeOf(db: Database, counters: readonly NamedCounter[], rangeLane: bigint): Promise<SumsPlace> {
    const rangeStart = rangeStartOf(rangeLane)
    const mayHave = this.#outdated.has(rangeStart) || counters.some(({ recordType }) => this.#declaring.has(recordType))
    const builds = this.#known.get(rangeStart) ?? (mayHave ? await this.buildsOf(db, rangeStart) : NOTHING)
    const prefixed = ({ recordType }: NamedCounter) => (builds.get(recordType)?.builds.length ?? 0) > 0
    const nameless = counters.filter((counter) => prefixed(counter) && (counter.name ?? null) === null)
    const named = await readNames(db, nameless)
    const given = new Map(counters.filter(prefixed).map((counter) => [counterId(counter), counter.name ?? null]))
    const nameOf = (counter: NamedCounter) => given.get(counterId(counter)) ?? named(counter)
    return {
      rangeLane,
      versionOf: (recordType) => builds.get(recordType)?.version ?? 0n,
      prefixesOf: (counter) => {
        if (!prefixed(counter)) return []
        const name = nameOf(counter)
        const of = builds.get(counter.recordType)!.builds
        return name === null ? [] : of.filter((build) => includes(build, name)).map(({ hash }) => hash)
      },
      isNamed: (counter) => !prefixed(counter) || nameOf(counter) !== null,
      outdated: () => this.forget(rangeStart),
    }
  }

  /** The builds of a range, by record type: as remembered, or else as they are in the database. */
  async buildsOf(db: Database, rangeStart: bigint): Promise<ReadonlyMap<number, TypeBuilds>> {
    const known = this.#known.get(rangeStart)
    if (known !== undefined) return known
    const builds = await readBuilds(db, rangeStart, db.ranges)
    this.#known.set(rangeStart, builds)
    return builds
  }
}
