// A Worker that only responds: its cost is the runtime's.
export default {
  fetch: () => new Response(null, { status: 204 }),
} satisfies ExportedHandler
