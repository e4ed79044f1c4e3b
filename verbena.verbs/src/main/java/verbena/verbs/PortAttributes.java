package verbena.verbs;

/// State and limits of a port (`struct ibv_port_attr`, ibv_query_port(3)). Immutable.
///
/// @param state whether it can be used
/// @param linkLayer network that the port is connected to
/// @param link the link below: whether it is up, and how fast it is
/// @param lids its local identifiers; [Lids#NONE] on Ethernet
/// @param maxMtu largest path MTU that the port could use
/// @param activeMtu largest path MTU that it can use now, given the MTU of the network interface
/// @param gidTableLength number of entries that the GID table can have
/// @param pkeyTableLength number of P_Keys
/// @param maxMessageBytes longest message, in bytes
/// @param capabilityFlags bits of `enum ibv_port_cap_flags`, for C programs; 0 on software devices
/// @since 0.1
public record PortAttributes(
        PortState state,
        LinkLayer linkLayer,
        Link link,
        Lids lids,
        Mtu maxMtu,
        Mtu activeMtu,
        int gidTableLength,
        int pkeyTableLength,
        long maxMessageBytes,
        int capabilityFlags) {
    @Preview
    public PortAttributes {}

    /// The link of a port.
    ///
    /// @param state its own state, below that of the port
    /// @param width number of its lanes
    /// @param speed of one lane
    public record Link(State state, Width width, Speed speed) {
        @Preview
        public Link {}

        /// State of a link (`PortPhysicalState`, IBTA 14.2.5.6).
        public enum State {
            /// A state without a name, or none.
            UNKNOWN("invalid physical state"),
            /// The link is quiet.
            SLEEP("SLEEP"),
            /// The port looks for another one at the end of the cable.
            POLLING("POLLING"),
            /// The link is switched off.
            DISABLED("DISABLED"),
            /// Both ends agree on width and speed.
            TRAINING("PORT_CONFIGURATION TRAINING"),
            /// The link carries packets.
            LINK_UP("LINK_UP"),
            /// The link carries no packets until it has recovered from errors.
            ERROR_RECOVERY("LINK_ERROR_RECOVERY"),
            /// The port is being tested.
            TEST("PHY TEST");

            private final String label;

            State(String label) {
                this.label = label;
            }

            /// Returns the number in libibverbs.
            public int code() {
                return ordinal();
            }

            /// Returns the state of such a number.
            public static State ofCode(int code) {
                return code > 0 && code < values().length ? values()[code] : UNKNOWN;
            }

            /// Returns the name that `ibv_devinfo` prints.
            @Override
            public String toString() {
                return label;
            }
        }

        /// Number of lanes of a link (`LinkWidthActive`, IBTA 14.2.5.6).
        public enum Width {
            /// A width that has no name here.
            UNKNOWN(0, 0),
            /// One lane.
            X1(1, 1),
            /// Two lanes.
            X2(16, 2),
            /// Four lanes.
            X4(2, 4),
            /// Eight lanes.
            X8(4, 8),
            /// Twelve lanes.
            X12(8, 12);

            private final int code;
            private final int lanes;

            Width(int code, int lanes) {
                this.code = code;
                this.lanes = lanes;
            }

            /// Returns the number in libibverbs.
            public int code() {
                return code;
            }

            /// Returns the number of lanes; 0 for [#UNKNOWN].
            public int lanes() {
                return lanes;
            }

            /// Returns the width of such a number.
            public static Width ofCode(int code) {
                for (Width each : values()) {
                    if (each.code == code) {
                        return each;
                    }
                }
                return UNKNOWN;
            }

            /// Returns the name that `ibv_devinfo` prints, for example `4X`.
            @Override
            public String toString() {
                return (lanes == 0 ? "invalid width" : lanes) + "X";
            }
        }

        /// Speed of a lane (`LinkSpeedActive`, IBTA 14.2.5.6).
        public enum Speed {
            /// A speed that has no name here.
            UNKNOWN(0, "invalid speed"),
            /// 2.5 Gb/s.
            SDR(1, "2.5 Gbps"),
            /// 5 Gb/s.
            DDR(2, "5.0 Gbps"),
            /// 10 Gb/s.
            QDR(4, "10.0 Gbps"),
            /// 10.3 Gb/s.
            FDR10(8, "10.0 Gbps"),
            /// 14 Gb/s.
            FDR(16, "14.0 Gbps"),
            /// 25 Gb/s.
            EDR(32, "25.0 Gbps"),
            /// 50 Gb/s.
            HDR(64, "50.0 Gbps"),
            /// 100 Gb/s.
            NDR(128, "100.0 Gbps"),
            /// 200 Gb/s.
            XDR(256, "200.0 Gbps");

            private final int code;
            private final String label;

            Speed(int code, String label) {
                this.code = code;
                this.label = label;
            }

            /// Returns the number in libibverbs.
            public int code() {
                return code;
            }

            /// Returns the speed of such a number.
            public static Speed ofCode(int code) {
                for (Speed each : values()) {
                    if (each.code == code) {
                        return each;
                    }
                }
                return UNKNOWN;
            }

            /// Returns the text that `ibv_devinfo` prints, for example `25.0 Gbps`.
            @Override
            public String toString() {
                return label;
            }
        }
    }

    /// The local identifiers of a port of InfiniBand.
    ///
    /// @param lid the first, 16 bits
    /// @param subnetManagerLid LID of the subnet manager's port
    /// @param maskControl number of low bits of the LID that may have any value, 0 to 7: with n of them the port
    ///     has `2^n` LIDs, from `lid` on
    public record Lids(int lid, int subnetManagerLid, int maskControl) {
        @Preview
        public Lids {}

        /// No identifiers, as on Ethernet.
        public static final Lids NONE = new Lids(0, 0, 0);
    }
}
