/** Thrown for input that breaks a rule. It names the field and the rule, and never repeats the input. */
export class InvalidInput extends Error {
  readonly field: string

  constructor(field: string, message: string) {
    super(message)
    this.name = 'InvalidInput'
    this.field = field
  }
}
