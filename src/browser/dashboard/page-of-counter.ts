// The script of the page of a counter: with its forms, one script for all pages would be too large.
import { startCounterPage } from './counter-page.ts'
import { startPage } from './start-page.ts'

// The key comes from the URL, because HTML does not preserve every character.
startPage(({ type = '', unit = '' }) =>
  startCounterPage(type, unit, new URLSearchParams(location.search).get('key') ?? ''),
)
