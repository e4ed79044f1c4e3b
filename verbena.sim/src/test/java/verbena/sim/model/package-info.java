/// What devices have to do, written from the standard and in the simplest way that can be read: the oracle of random
/// tests.
///
/// Maps and lists, a whole message at a time, no packets but where a rule speaks of them, and nothing of the product
/// but the vocabulary of `verbena.verbs`. Every verb is asked first (`may...`) and answers with all the reasons why
/// it has to be refused ([Refusal]); which of them a device tells is its choice. Then it is done. What follows is
/// worked out by [Model#settle()]: completions, events, memory, and the NAKs on the wire.
///
/// | question | the one place |
/// |---|---|
/// | which attributes does a state change need? | [ModifyRules] |
/// | what may be posted? | [PostRules] |
/// | may this key touch this address? may this window be bound? | [MemoryRules] |
/// | what becomes of a posted request? | [RequestRules] |
/// | what does it lead to, reliably or not? | [ReliableRules], [UnreliableRules] |
/// | what becomes of a queue pair in ERR? of a full completion queue? | [ModelQueuePair], [ModelCompletionQueue] |
///
/// Sources: IBTA volume 1, the libibverbs manual pages; where they leave a choice, the contracts of `verbena.verbs`.
package verbena.sim.model;
