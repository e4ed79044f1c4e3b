/// The verbs API: devices, memory, queue pairs, requests and their completions (IBTA chapter 11, libibverbs). Start
/// with [verbena.verbs.Device#named(String)].
package verbena.verbs;
