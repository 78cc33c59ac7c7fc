// The product's Worker, and beside it a route that does nothing, behind the same middlewares as all routes but the hot one.
import { app } from '../../src/app.ts'
import worker from '../../src/index.ts'

app.post('/bench/nothing', (c) => c.body(null, 204))

export default worker
