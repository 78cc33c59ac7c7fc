// Loaded before local/start.ts, which an old Node.js cannot read. Any Node.js can read this.
const [major, minor] = process.versions.node.split('.').map(Number)
// The first version that runs TypeScript without a flag.
if (major < 22 || (major === 22 && minor < 18) || (major === 23 && minor < 6)) {
  console.error(`This Node.js is too old: ${process.version}, at ${process.execPath}.
\`npm ci\` installs the version that the scripts use, unless install scripts are disabled. Or install Node.js 24.`)
  process.exit(1)
}
