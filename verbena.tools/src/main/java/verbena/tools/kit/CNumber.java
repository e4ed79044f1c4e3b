package verbena.tools.kit;

import picocli.CommandLine.ITypeConverter;

/// Numbers as strtol(3) with base 0 takes them: decimal, `0x` hexadecimal, leading `0` octal.
public final class CNumber implements ITypeConverter<Integer> {
    @Override
    public Integer convert(String text) {
        return Numbers.convert(text, Integer::decode);
    }
}
