/** The widths of Verdana's characters from " " to "~", in units of which the size of the font has 2,048. */
const REGULAR = widths(
  '720 806 940 1676 1302 2204 1488 550 930 930 1302 1676 745 930 745 930 1302 1302 1302 1302 1302 1302 1302 1302 1302 1302 930 930 1676 1676 1676 1117 2048 1400 1404 1430 1579 1295 1177 1588 1539 862 931 1419 1140 1726 1532 1612 1235 1612 1424 1400 1262 1499 1400 2025 1403 1260 1403 930 930 930 1676 1302 1302 1230 1276 1067 1276 1220 720 1276 1296 562 705 1212 562 1992 1296 1244 1276 1276 874 1067 807 1296 1212 1676 1212 1212 1076 1300 930 1300 1676',
)
const BOLD = widths(
  '700 824 1203 1776 1456 2605 1766 680 1113 1113 1456 1776 740 983 740 1412 1456 1456 1456 1456 1456 1456 1456 1456 1456 1456 824 824 1776 1776 1776 1263 1975 1590 1561 1483 1700 1399 1332 1661 1715 1118 1137 1579 1305 1941 1734 1741 1502 1741 1602 1455 1397 1663 1564 2311 1564 1510 1418 1113 1412 1113 1776 1456 1456 1368 1431 1205 1431 1360 865 1431 1458 700 825 1375 700 2167 1458 1407 1431 1431 1018 1215 933 1458 1332 2005 1370 1334 1223 1456 1113 1456 1776',
)
const FIRST = 32
/** Where symbols and the scripts of East Asia begin, most of whose characters are as wide as they are high. */
const FIRST_WIDE = 0x2100
const WIDE = 2048
/** An emoji, in Noto Color Emoji. */
const EMOJI = 2550

function widths(list: string): number[] {
  return list.split(' ').map(Number)
}

/**
 * Measures a text in Verdana as shields.io does, to hundredths of a pixel for each character, without a font: ASCII, and the same
 * letters with accents. Other letters are as wide as "o" or "S", emoji have one width, however many are joined in one.
 * @returns `characters`: as people count them; `isExact`: whether the width, in pixels, is not an estimate
 */
export function measureText(text: string, size: number, isBold = false) {
  const table = isBold ? BOLD : REGULAR
  const widthOf = (character: string) => table[character.charCodeAt(0) - FIRST]
  const measured = { width: 0, characters: 0, isExact: true }
  const add = (units: number) => {
    measured.width += Math.round((units * size * 100) / 2048) / 100
  }
  for (const character of charactersOf(text)) {
    measured.characters++
    if (/\p{Emoji_Presentation}|\p{Emoji}\uFE0F/u.test(character)) {
      measured.isExact = false
      add(EMOJI)
      continue
    }
    for (const part of character) {
      if (/[\p{Mn}\p{Me}\p{Cf}]/u.test(part)) continue
      const exact = widthOf(part.normalize('NFD'))
      measured.isExact &&= exact !== undefined
      add(exact ?? (part.codePointAt(0)! < FIRST_WIDE ? widthOf(/\p{Lu}/u.test(part) ? 'S' : 'o')! : WIDE))
    }
  }
  return measured
}

// Creating it takes longer than drawing a badge.
let segmenter: Intl.Segmenter | undefined

function charactersOf(text: string): Iterable<string> {
  if (!/[^ -~]/.test(text)) return text
  segmenter ??= new Intl.Segmenter()
  return Array.from(segmenter.segment(text.normalize()), ({ segment }) => segment)
}
