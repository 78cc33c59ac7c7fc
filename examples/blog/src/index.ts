import { Hono } from 'hono'
import { html } from 'hono/html'
import { createSlottedCounter } from 'slotted-counter'

const POSTS: Record<string, string> = { hello: 'Hello', again: 'Hello again' }

const counter = createSlottedCounter({
  BASE_PATH: '/counter',
  COUNTERS: {
    page_view: {
      record_type: 1,
      public: true,
      allowed_origins: ['https://blog.example', 'http://localhost:8787'],
      new_keys: ['/', '/posts/*'],
    },
  },
})

const app = new Hono()

app.route('/counter', counter.routes)

app.get('/', (c) =>
  c.html(
    page(
      'Blog',
      html`<ul>${Object.keys(POSTS).map((slug) => html`<li><a href="/posts/${slug}">${POSTS[slug]}</a>`)}</ul>`,
    ),
  ),
)

app.get('/posts/:slug', (c) => {
  const slug = c.req.param('slug')
  const title = Object.hasOwn(POSTS, slug) ? POSTS[slug] : undefined
  if (title === undefined) return c.notFound()
  return c.html(page(title, html`<p>Read <b data-counter>…</b> times.</p>`))
})

function page(title: string, content: unknown) {
  return html`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>${title}</title>
<h1>${title}</h1>
${content}
<script defer src="/counter/slotted.js"></script>
</html>`
}

export default { fetch: app.fetch, scheduled: counter.scheduled }
