/// Lets links of one user share an address. [SharedAddress] is one link's part in it: it passes on packets that are
/// for another ([Addressee], [Relay]), and knows who is there ([Presence]) and who has which service ([Services]).
package verbena.nic.link.sharing;
