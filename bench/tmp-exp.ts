import { Rig } from './rig.ts'
import { withService } from './service.ts'
import { runWrk } from './wrk.ts'
const signal = new AbortController().signal
const rig = new Rig({ signal, say: console.log })
try {
  await rig.start(process.env.MYSQL_URL)
  for (let i = 0; i < 4; i++)
    await withService(rig, { worker: 'bare', behaviour: { commitMs: 2, latencyMs: 5 } }, async (s) => {
      for (const seconds of [1, 3]) {
        let over = false
        const began = Date.now()
        const log: string[] = []
        const w = runWrk({ method: 'POST', url: `${s.url}/one-row`, connections: 1024, keys: 1, order: 'turn', seed: 1, rampSeconds: 0, seconds }, s.directory, signal).finally(() => { over = true })
        while (!over) {
          const t = Date.now() - began
          const [sum, st] = [await s.sum('one_row_counters'), await s.statements()]
          const p = await rig.query('SHOW PROCESSLIST')
          log.push(`${t}:${sum}/${st}(${p.length},${p.filter((x) => x.State?.includes('commit') || x.State?.includes('handler')).length},${p.filter((x) => x.Command !== 'Sleep').length})`)
          await new Promise((r) => setTimeout(r, 300))
        }
        const r = await w
        console.log(i, seconds, r.answered, r.perSecond, log.join(' '))
        const t = Date.now(); await s.settle('one_row_counters'); console.log('settled', Date.now() - t)
      }
    })
} finally { await rig.stop() }
