import { Random } from '../harness/random.ts'

/** Random numbers for one test. Set `FAULTS_SEED` to the seed that a failed test has printed to repeat it. */
export function seededRandom(): Random {
  const seed = Number(process.env.FAULTS_SEED ?? Math.floor(Math.random() * 2 ** 32))
  console.log(`FAULTS_SEED=${seed}`)
  return new Random(seed)
}
