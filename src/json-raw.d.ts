// ECMAScript "JSON.parse source text access", in V8 since 11.4; TypeScript's library does not declare it yet.
interface JSON {
  rawJSON(text: string): { readonly rawJSON: string }
}
