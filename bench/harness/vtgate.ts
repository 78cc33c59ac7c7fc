import { BenchServer } from './measured-database.ts'

/**
 * A vtgate to measure on: that of VITESS_URL. A client cannot make keyspaces, so all runs take turns with one that exists. Nothing
 * else may use it.
 */
export class Vtgate extends BenchServer {
  override get description(): string {
    return 'Vitess (VITESS_URL)'
  }

  /** Empties the keyspace that has one shard, and returns its name. */
  override async createDatabase(): Promise<string> {
    const shards = (await this.query('SHOW VITESS_SHARDS')).map((row) => String(Object.values(row)[0]).split('/')[0]!)
    const keyspace = shards.find((name) => shards.filter((other) => other === name).length === 1)
    if (keyspace === undefined) throw new Error('The vtgate of VITESS_URL has no keyspace with one shard.')
    await this.dropDatabase(keyspace)
    return keyspace
  }

  override async dropDatabase(name: string): Promise<void> {
    for (const row of await this.query('SHOW TABLES FROM ??', [name]))
      await this.query('DROP TABLE ??.??', [name, Object.values(row)[0]])
  }

  /** Zeros: vtgate does not say. */
  override async waits() {
    return { lockWaits: 0, deadlocks: 0 }
  }
}
