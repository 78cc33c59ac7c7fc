/** Thrown when too much waits for the database already: nothing was sent to it. */
export class Overloaded extends Error {}
