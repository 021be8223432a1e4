# Rouge at work: ruby rouge.rb LEXER TEXT... prints, for each text, a JSON line of [start, end, class].
require 'json'
require 'rouge'

lexer, *texts = ARGV
require File.expand_path(lexer)

texts.each do |path|
  text = File.read(path, encoding: 'UTF-8')
  raise "#{path} is not recognized" unless Rouge::Lexer.guess(filename: path, source: text) == Rouge::Lexers::MIL

  offset = 0
  found = Rouge::Lexer.find('mil').lex(text).map do |token, piece|
    start = offset
    offset += piece.length
    [start, offset, token.qualname]
  end
  puts JSON.generate(found)
end
