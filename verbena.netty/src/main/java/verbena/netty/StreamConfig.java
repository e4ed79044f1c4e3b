package verbena.netty;

import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import io.netty.channel.DefaultChannelConfig;
import io.netty.channel.RecvByteBufAllocator;
import java.util.Map;

/// The base of the options of both kinds of channels. [StreamChoices] keeps the options of the stream; all others
/// are Netty's.
abstract class StreamConfig extends DefaultChannelConfig {
    final StreamChoices choices;
    private final Runnable whenAutoReadEnds;

    /// @param whenAutoReadEnds forgets that a read was asked for
    StreamConfig(
            Channel owner,
            RecvByteBufAllocator reading,
            Map<ChannelOption<?>, Object> more,
            Runnable whenAutoReadEnds) {
        super(owner, reading);
        this.choices = new StreamChoices(more);
        this.whenAutoReadEnds = whenAutoReadEnds;
    }

    @Override
    public Map<ChannelOption<?>, Object> getOptions() {
        return getOptions(super.getOptions(), choices.known().toArray(new ChannelOption<?>[0]));
    }

    @Override
    @SuppressWarnings("NullAway") // Netty's answer for an option without a value is null
    public <T> T getOption(ChannelOption<T> option) {
        return choices.has(option) ? choices.get(option) : super.getOption(option);
    }

    @Override
    public <T> boolean setOption(ChannelOption<T> option, T value) {
        validate(option, value);
        if (!choices.has(option)) {
            return super.setOption(option, value);
        }
        choices.set(option, value);
        return true;
    }

    @Override
    protected void autoReadCleared() {
        whenAutoReadEnds.run();
    }
}
