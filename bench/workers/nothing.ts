// A Worker that does nothing: what is left is the runtime.
export default {
  fetch: () => new Response(null, { status: 204 }),
} satisfies ExportedHandler
